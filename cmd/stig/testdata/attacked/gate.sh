#!/bin/sh
# opens the gate
exit 0
