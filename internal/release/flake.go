package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// flakeOf is a flake of the archives in dir, which are found at a URL once they are
// published. Nix compares what it loads with their sums.
func flakeOf(dir, version, url string) ([]byte, error) {
	var archives strings.Builder
	for _, system := range []struct{ nix, ours string }{
		{"aarch64-darwin", "darwin_arm64"}, {"aarch64-linux", "linux_arm64"},
		{"x86_64-darwin", "darwin_amd64"}, {"x86_64-linux", "linux_amd64"},
	} {
		name := fmt.Sprintf("stig_%s_%s.tar.gz", version, system.ours)
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(&archives, "        %s = {\n          url = \"%s/%s\";\n          hash = \"sha256-%s\";\n        };\n",
			system.nix, url, name, base64.StdEncoding.EncodeToString(sum[:]))
	}
	return []byte(strings.NewReplacer("@VERSION@", version, "@ARCHIVES@", archives.String()).Replace(flake)), nil
}

const flake = `# Made for one release; the archives are those of the release.
{
  description = "share a codebase through the issues in its repository";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      archives = {
@ARCHIVES@      };
      package = system:
        let pkgs = nixpkgs.legacyPackages.${system};
        in pkgs.stdenvNoCC.mkDerivation {
          pname = "stig";
          version = "@VERSION@";
          src = pkgs.fetchurl archives.${system};
          sourceRoot = ".";
          nativeBuildInputs = [ pkgs.installShellFiles ];
          installPhase = ''
            install -Dm755 stig $out/bin/stig
            installManPage man/*.1.gz
            installShellCompletion --cmd stig --bash completions/stig.bash \
              --zsh completions/_stig --fish completions/stig.fish
          '';
          meta = {
            description = "share a codebase through the issues in its repository";
            license = pkgs.lib.licenses.mit;
            mainProgram = "stig";
          };
        };
    in {
      packages = builtins.mapAttrs (system: _: { default = package system; }) archives;
    };
}
`
