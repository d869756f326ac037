// Package unit writes what makes a service manager start a worker: units of systemd,
// and property lists of launchd. It gives texts and their file names, and installs
// nothing.
package unit
