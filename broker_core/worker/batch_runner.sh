#!/bin/sh
# What a batch system runs on a node: finds out which attempt this task stands for, and becomes its Job Starter.
#
#   batch_runner.sh DIRECTORY GROUP INDEX
#
# DIRECTORY/groups/GROUP/list has one tag a line, - for a task that has nothing to do; INDEX counts from 0.
# DIRECTORY/attempts/TAG/order sets the starter's variables and runs it.
#
# Exit status: that of the starter; 227 if the order does not come into sight.

umask 077
directory=$1 group=$2 line=$(($3 + 1))
tries=0
until
    tag=$(sed -n "${line}{p;q;}" "$directory/groups/$group/list" 2>/dev/null)
    [ "$tag" != - ] || exit 0
    [ -n "$tag" ] && [ -r "$directory/attempts/$tag/order" ]
do
    # A network file system may show what was just written a little later.
    tries=$((tries + 1))
    [ "$tries" -lt 90 ] || exit 227
    sleep 1
done
. "$directory/attempts/$tag/order"
exit 227
