#!/bin/sh
# Runs a command in a mount namespace in which nothing can be written.
mount --make-rprivate / || exit 99
awk '{ print $2 }' /proc/self/mounts | sort -r | while read -r place; do
  mount -o remount,bind,ro "$place" 2>/dev/null
done
for place in / /tmp /dev/shm /var/tmp; do
  if [ -d "$place" ] && [ -w "$place" ]; then exit 99; fi
done
exec "$@"
