// Keyboard shortcuts, and forms in parts that change while somebody types in them.
(() => {
  "use strict";
  const items = () => [...document.querySelectorAll("main .item")].filter(e => e.offsetParent);
  const typing = e => e && (e.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName));
  let at = -1, went = false;

  const go = step => {
    const all = items();
    if (!all.length) return;
    at = Math.max(0, Math.min(all.length - 1, at + step));
    const link = all[at].querySelector("a") || all[at];
    link.focus();
    all[at].scrollIntoView({block: "nearest"});
  };

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") { document.activeElement.blur(); return; }
    if (typing(event.target)) return;
    if (went) {
      went = false;
      const link = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); location.href = link.href; return; }
    }
    switch (event.key) {
    case "j": go(1); break;
    case "k": go(-1); break;
    case "g": went = true; break;
    case "/": event.preventDefault(); document.getElementById("find").focus(); break;
    }
  });

  // A choice in the menus of a page applies at once.
  document.addEventListener("change", event => {
    if (event.target.tagName === "SELECT" && event.target.form?.method === "get") event.target.form.requestSubmit();
  });

  // A click copies a command.
  document.addEventListener("click", event => {
    const command = event.target.closest(".copy");
    if (!command || !navigator.clipboard) return;
    navigator.clipboard.writeText(command.textContent).then(() => {
      command.classList.add("copied");
      setTimeout(() => command.classList.remove("copied"), 1500);
    }, () => {}); // the text stays selected
  });
  document.addEventListener("submit", event => { if (event.target.method === "post") event.target.setAttribute("aria-busy", "true"); }); // checks take long

  // A part in which somebody has typed is not replaced; submitting the form reports whether
  // the data has changed.
  const isTouched = field => {
    if (field === document.activeElement) return true;
    if (field.type === "radio" || field.type === "checkbox") return field.checked !== field.defaultChecked;
    if (field.tagName === "SELECT") return !(field.querySelector("[selected]") || field.options[0])?.selected;
    return field.value !== field.defaultValue;
  };
  const isDirty = part => [...part.querySelectorAll("textarea, select, input:not([type=hidden])")].some(isTouched);
  const folds = part => [...part.querySelectorAll("details > summary")];
  const named = s => s.closest("[id]").id + " " + s.textContent;
  let open = new Map();
  document.addEventListener("htmx:sseBeforeMessage", event => {
    const part = event.target;
    open = new Map(folds(part).map(s => [named(s), s.parentElement.open]));
    if (!isDirty(part)) return;
    event.preventDefault();
    if (part.querySelector(".changed")) return;
    const note = document.createElement("p");
    note.className = "changed";
    note.setAttribute("role", "status");
    note.textContent = "This has changed: reload the page to see it.";
    part.prepend(note);
  });
  document.addEventListener("htmx:sseMessage", event => { // folds stay as they are
    for (const s of folds(event.target)) {
      if (open.has(named(s))) s.parentElement.open = open.get(named(s));
    }
    const waiting = document.querySelector("[data-waiting]");
    if (waiting) document.title = document.title.replace(/^(\(\d+\) )?/, waiting.dataset.waiting > 0 ? `(${waiting.dataset.waiting}) ` : "");
  });

  // Browsers limit the connections to one address: a hidden page closes its connection after
  // a minute, and reloads when it is shown again.
  const connection = document.getElementById("connection");
  let source = null, waiting = 0, left = false;
  document.addEventListener("htmx:sseOpen", event => { source = event.detail.source; connection.hidden = true; });
  document.addEventListener("htmx:sseError", () => { connection.hidden = false; });
  document.addEventListener("visibilitychange", () => {
    clearTimeout(waiting);
    if (document.hidden) {
      waiting = setTimeout(() => { if (source) { source.close(); left = true; } }, 60000);
    } else if (left && !isDirty(document)) {
      location.reload();
    } else {
      connection.hidden = !left;
    }
  });
})();
