#!/usr/bin/env bash
# Emulates nodes on one machine, as network namespaces on a bridge. Needs root.
#
#   emulated_nodes.sh up NAME COUNT      makes NAME-head, NAME-0, NAME-1, ...
#   emulated_nodes.sh cut NAME NODE      takes the node's network away
#   emulated_nodes.sh mend NAME NODE     gives it back
#   emulated_nodes.sh kill NAME NODE     kills all that runs there
#   emulated_nodes.sh down NAME COUNT
#   emulated_nodes.sh HOST COMMAND...    runs a command there: mpirun takes this for ssh

set -euo pipefail

nodes() { printf '%s-head\n' "$1"; for ((i = 0; i < $2; ++i)); do printf '%s-%d\n' "$1" "$i"; done; }

up() {
  local name=$1 count=$2 address=1 node
  ip netns add "$name-switch"
  ip -n "$name-switch" link add bridge type bridge
  ip -n "$name-switch" link set bridge up
  for node in $(nodes "$name" "$count"); do
    ip netns add "$node"
    ip link add "port$address" netns "$name-switch" type veth peer name eth0 netns "$node"
    ip -n "$name-switch" link set "port$address" master bridge up
    ip -n "$node" link set lo up
    ip -n "$node" address add "10.99.0.$address/24" dev eth0
    ip -n "$node" link set eth0 up
    address=$((address + 1))
  done
}

end_all_in() {
  local pids
  pids=$(ip netns pids "$1" 2>/dev/null) || true
  [[ -z $pids ]] || kill -9 $pids 2>/dev/null || true
}

down() {
  local node
  for node in $(nodes "$1" "$2"); do
    end_all_in "$node"
    ip netns delete "$node" || true  # it may not have been made
  done
  ip netns delete "$1-switch" || true
}

case $1 in
  up | down) "$1" "$2" "$3" ;;
  # Done at the bridge, to take effect at once: after a link comes up, the kernel waits a second before it uses it.
  cut) ip netns exec "$2-switch" bridge link set dev "port$(($3 + 2))" state 0 ;;
  mend) ip netns exec "$2-switch" bridge link set dev "port$(($3 + 2))" state 3 ;;
  kill) end_all_in "$2-$3" ;;
  *)
    while [[ $1 == -* ]]; do shift; done
    host=$1
    shift
    number=${host##*-}
    port=$(ip netns exec "${host%-*}-switch" bridge -d link show dev "port$((number + 2))")
    if [[ $port == *'state disabled'* ]]; then exit 255; fi  # cut off
    # If the host names were equal, mpirun would take the hosts for one node.
    exec ip netns exec "$host" setsid unshare --uts bash -c "hostname $host; $*"
    ;;
esac
