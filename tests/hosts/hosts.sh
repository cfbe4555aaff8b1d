# shellcheck shell=sh
# Hosts for tests: each is a network, UTS, IPC, PID and mount namespace of its own, with its own
# /dev/shm and a virtual Ethernet link to a switch. MPICH's launcher runs on a host for logins,
# which sees the others' processes as its own, and enters a host where it would call ssh.
#
#   hosts_test N              begins a test with h1 ... hN, which end with it, and one thread a rank;
#                             skips it where hosts cannot be made
#   hosts_missing             why it cannot be done here; nothing if it can
#   hosts_start N             makes h1 ... hN
#   hosts_run HOSTS RANKS COMMAND...   ranks of a command on the first HOSTS hosts, in turn
#   hosts_relay N DELAY LOSS  from now on frames of host N take DELAY seconds more each way, and LOSS
#                             of them are lost (relay.py; many kernels have no tc netem)
#   hosts_relay_end N         as before
#   hosts_relayed N           frames that were carried so, and that were lost
#   hosts_sent N              bytes that host N has sent through its link
#   hosts_cut N               cuts its link
#   hosts_uncut N             joins it again
#   hosts_kill N              kills all its processes
#   hosts_stop                removes everything

hosts_missing() {
    for hosts_tool in ip unshare nsenter; do
        command -v "$hosts_tool" >/dev/null || {
            echo "no $hosts_tool"
            return
        }
    done
    "$MPIEXEC" -version 2>/dev/null | grep -q HYDRA || {
        echo "$MPIEXEC is not MPICH's hydra"
        return
    }
    # A user without rights, and containers, may make none of these.
    unshare -n -u -i -p -f -m sh -c '
        mount -t tmpfs none /dev/shm && ip link add a type veth peer name b && hostname x
        ip link add s type bridge' >/dev/null 2>&1 ||
        echo "namespaces, links or mounts are not allowed here"
}

# hosts_hold NAME [OPTION...]: namespaces that a sleeping process holds; its pid goes to
# hosts/NAME.pid.
hosts_hold() {
    hosts_name=$1
    shift
    # Where a process namespace is made, the process that unshare starts is its first.
    # shellcheck disable=SC2016 # that shell expands it
    unshare -n -u -m "$@" sh -c '
        hostname "$1" && mount --make-rprivate / && mount -t tmpfs -o size=1g none /dev/shm &&
            mount --bind hosts/names /etc/hosts && ip link set lo up && echo up >"hosts/$1.up"
        exec sleep 1000000' sh "$hosts_name" 2>"hosts/$hosts_name.err" &
    hosts_holder=$!
    hosts_look=0
    until [ -s "hosts/$hosts_name.up" ] && hosts_pid "$hosts_name" "$@"; do
        hosts_look=$((hosts_look + 1))
        [ $hosts_look -lt 100 ] && kill -0 "$hosts_holder" 2>/dev/null || return 1
        sleep 0.1
    done
}

# hosts_pid NAME [OPTION...]: notes the holder's pid, which is a child of unshare's if that forked.
hosts_pid() {
    case " $* " in
    *" -f "*) cat "/proc/$hosts_holder/task/$hosts_holder/children" ;;
    *) echo "$hosts_holder" ;;
    esac >"hosts/$1.pid"
    [ -s "hosts/$1.pid" ]
}

# hosts_enter NAME COMMAND...: runs a command there.
hosts_enter() {
    hosts_in=$(xargs <"hosts/$1.pid")
    shift
    if [ "$hosts_in" = "$(xargs <hosts/login.pid)" ]; then
        nsenter -t "$hosts_in" -n -u -m --wd="$PWD" -- "$@"
    else
        nsenter -t "$hosts_in" -n -u -i -p -m --wd="$PWD" -- "$@"
    fi
}

# hosts_link NAME LAST: links it to the switch, as 10.77.0.LAST.
hosts_link() {
    hosts_enter login ip link add "to-$1" type veth peer name eth0 netns "$(xargs <"hosts/$1.pid")" &&
        hosts_enter login ip link set "to-$1" master switch up &&
        hosts_enter "$1" ip address add "10.77.0.$2/24" dev eth0 &&
        hosts_enter "$1" ip link set eth0 up
}

hosts_start() {
    hosts_count=$1
    mkdir hosts || return 1
    {
        echo "127.0.0.1 localhost"
        echo "10.77.0.254 login"
        for hosts_n in $(seq "$hosts_count"); do
            echo "10.77.0.$hosts_n h$hosts_n"
        done
    } >hosts/names
    # What the launcher takes for ssh: ssh [OPTION...] HOST COMMAND...
    cat >hosts/ssh <<'END'
#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
host=$1
shift
cd "$HOSTS_WORK" || exit 255
exec nsenter -t "$(xargs <"hosts/$host.pid")" -n -u -i -p -m --wd="$HOSTS_WORK" -- sh -c "$*"
END
    chmod +x hosts/ssh
    hosts_hold login || return 1
    hosts_enter login ip link add switch type bridge &&
        hosts_enter login ip address add 10.77.0.254/24 dev switch &&
        hosts_enter login ip link set switch up || return 1
    for hosts_n in $(seq "$hosts_count"); do
        hosts_hold "h$hosts_n" -i -p -f --mount-proc && hosts_link "h$hosts_n" "$hosts_n" || return 1
    done
}

hosts_test() {
    hosts_reason=$(hosts_missing)
    if [ -n "$hosts_reason" ]; then
        echo "1..0 # SKIP $hosts_reason"
        exit 0
    fi
    # shellcheck disable=SC2154 # tests/tap/tap.sh sets it
    trap 'hosts_stop; chmod -R u+w "$work"; rm -rf "$work"' EXIT
    if ! hosts_start "$1"; then
        verdict 1 "hosts are made"
        sed 's/^/# /' hosts/*.err
        done_testing
    fi
    OMP_NUM_THREADS=1
    export OMP_NUM_THREADS
}

hosts_run() {
    hosts_list=$(seq -s , -f 'h%g' "$1")
    hosts_ranks=$2
    shift 2
    # Between hosts TCP; the launcher's own connections too. Names tell MPI which ranks are on one
    # host.
    HOSTS_WORK=$PWD UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 UCX_WARN_UNUSED_ENV_VARS=n \
        hosts_enter login "$MPIEXEC" -launcher ssh -launcher-exec "$PWD/hosts/ssh" \
        -hosts "$hosts_list" -iface switch -n "$hosts_ranks" "$@"
}

hosts_relay() {
    hosts_near=near-h$1 hosts_far=far-h$1
    # The switch has the far end of a second link; the login host answers nobody on either.
    hosts_enter login ip link add "$hosts_near" type veth peer name "$hosts_far" &&
        hosts_enter login ip link set "to-h$1" nomaster arp off &&
        hosts_enter login ip link set "$hosts_near" arp off up &&
        hosts_enter login ip link set "$hosts_far" master switch up || return 1
    hosts_enter login "${PYTHON3:-python3}" "${top_srcdir:?}/tests/hosts/relay.py" "to-h$1" \
        "$hosts_near" "$2" "$3" "$1" "hosts/h$1.relayed" 2>"hosts/h$1.relay.err" &
    echo $! >"hosts/relay-h$1.pid"
    hosts_look=0
    until [ -s "hosts/h$1.relayed" ]; do
        hosts_look=$((hosts_look + 1))
        [ $hosts_look -lt 100 ] || return 1
        sleep 0.1
    done
}

hosts_relay_end() {
    kill "$(xargs <"hosts/relay-h$1.pid")"
    rm "hosts/relay-h$1.pid"
    hosts_enter login ip link del "near-h$1" && hosts_enter login ip link set "to-h$1" master switch
}

hosts_relayed() {
    cat "hosts/h$1.relayed"
}

hosts_sent() {
    hosts_enter "h$1" sed -n 's/^ *eth0: *//p' /proc/net/dev | awk '{ print $9 }'
}

hosts_cut() {
    hosts_enter login ip link set "to-h$1" down
}

hosts_uncut() {
    hosts_enter login ip link set "to-h$1" up
    # Hosts remember for a while whom they did not find.
    hosts_enter login ip neigh flush dev switch
    for hosts_n in $(seq "$hosts_count"); do
        hosts_enter "h$hosts_n" ip neigh flush dev eth0
    done
    sleep 1
}

hosts_kill() {
    kill -9 "$(xargs <"hosts/h$1.pid")"
}

hosts_stop() {
    for hosts_file in hosts/*.pid; do
        [ ! -s "$hosts_file" ] || kill -9 "$(xargs <"$hosts_file")" 2>/dev/null
    done
    wait 2>/dev/null
}
