#!/bin/sh
# explore.sh is one explorer of stig swarm run: each agent tries another fix of
# highest.sh in its own work tree, and says what it believes. Three believe in the locale
# and agree with each other. What decides is test.sh, which the criteria run.
cat >/dev/null # the prompt: an assistant would read it
fix() { sed "s/sort \"\$1\" | tail -n 1/$1/" highest.sh >fixed && mv fixed highest.sh; }
finding() { stig swarm finding "$STIG_ISSUE" --idea "$1" --direction "$2" --perspective "$STIG_ACTOR" --details "$3"; }
case $STIG_ACTOR in
tanwei)
	fix 'LC_ALL=C sort "$1" | tail -n 1'
	stig swarm deposit "$STIG_ISSUE" --direction locale --amount 0.3
	finding locale locale 'sort follows the locale; C orders bytes.' ;;
suyuan)
	fix 'LC_ALL=en_US.UTF-8 sort "$1" | tail -n 1'
	stig swarm deposit "$STIG_ISSUE" --direction locale --amount 0.3
	finding locale locale 'Digits compare by the collation of the language.' ;;
dongcha)
	fix 'sort -d "$1" | tail -n 1'
	stig swarm deposit "$STIG_ISSUE" --direction locale --amount 0.3
	finding locale locale 'Blanks and signs confuse the collation; -d ignores them.' ;;
*)
	fix 'sort -n "$1" | tail -n 1'
	finding numbers comparison 'Readings are compared as texts: 98 comes after 104.' ;;
esac
