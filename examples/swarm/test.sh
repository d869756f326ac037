#!/bin/sh
# The highest of three readings, one of which has more digits.
printf '98\n104\n97\n' >readings.tmp
found=$(sh highest.sh readings.tmp)
rm readings.tmp
test "$found" = 104 || { echo "highest is $found, not 104"; exit 1; }
