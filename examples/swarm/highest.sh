#!/bin/sh
# highest.sh FILE prints the highest tide in centimetres, one reading a line.
sort "$1" | tail -n 1
