#!/bin/sh
# MPI-Start: starts the processes of a parallel job on the processors that its batch system gave (CB-MPI-01 to 08).
# The Job Starter makes the program's process become this where a description names a kind of MPI.
#
#   mpi_start.sh TYPE COUNT FOLDERS NAMES DIRECTORY PROGRAM [WORD]...
#
# TYPE: openmpi, mpich (MPICH2 too), mpich-g2 for one component of a job over several sites, whose launcher is
# elsewhere and gave the words in CROSSDESK_MPI_PROXY, pacx-mpi for one that has nothing but an outgoing connection to
# the hub of its job (CROSSDESK_MPI_OVERLAY; overlay.py and its parts stand beside this), or plain, whose program is started once
# and finds the machines in a file.
# COUNT: processes. FOLDERS: installations to look into after PATH, joined with colons. NAMES: variables of the job
# that all processes get. DIRECTORY: of the attempt. Runs in the job's own directory.
#
# The core below asks three families of plug-ins: what the batch system gave (scheduler_*), where the job's files
# have to be (files_*), and how the library is started (mpi_*). A new one is a function and its name in the list.
#
# Exit status: of the launcher of the library, which is that of the processes. What keeps them from their start
# stands as one line in `.crossdesk-software`, as for software.sh.

note=.crossdesk-software

say() { printf 'CrossDesk: %s\n' "$*" >&2; }

# Record why nothing is started, and end.
fail() {
    printf '%s\n' "$1" | LC_ALL=C tr -cd '\12\40-\133\135-\176' >"$note"
    say "$1"
    exit 1
}

# Set `found` to the sum of the processors in file $1, and `hosts` to the number of its lines.
count() { read -r found hosts <<END
$(awk '{ sum += $2 } END { print sum + 0, NR }' "$1")
END
}

# --- Schedulers: each says whether it gave the processors, and prints lines of HOST COUNT.

scheduler_slurm() {
    [ -n "${SLURM_JOB_NODELIST:-}" ] && command -v scontrol >/dev/null 2>&1 || return 1
    scontrol show hostnames "$SLURM_JOB_NODELIST" |
        awk -v tasks="${SLURM_TASKS_PER_NODE:-${SLURM_JOB_CPUS_PER_NODE:-1}}" '
            BEGIN {
                parts = split(tasks, part, ",")
                for (i = 1; i <= parts; i++) {
                    number = part[i]; times = 1
                    if (match(number, /\(x[0-9]+\)/)) times = substr(number, RSTART + 2, RLENGTH - 3)
                    for (; times > 0; times--) count[++nodes] = number + 0
                }
            }
            { print $1, (NR in count) ? count[NR] : 1 }'
}

scheduler_sge() {
    [ -r "${PE_HOSTFILE:-}" ] || return 1
    awk 'NF > 1 { if (!($1 in sum)) order[++hosts] = $1; sum[$1] += $2 }
        END { for (i = 1; i <= hosts; i++) print order[i], sum[order[i]] }' "$PE_HOSTFILE"
}

# PBS and LSF write one line for each processor.
lines() { awk 'NF { if (!($1 in sum)) order[++hosts] = $1; sum[$1]++ }
    END { for (i = 1; i <= hosts; i++) print order[i], sum[order[i]] }' "$1"; }
scheduler_pbs() { [ -r "${PBS_NODEFILE:-}" ] && lines "$PBS_NODEFILE"; }
scheduler_lsf() {
    if [ -r "${LSB_DJOB_HOSTFILE:-}" ]; then
        lines "$LSB_DJOB_HOSTFILE"
    elif [ -n "${LSB_MCPU_HOSTS:-}" ]; then
        printf '%s ' "$LSB_MCPU_HOSTS" | awk 'BEGIN { RS = " " } NF { if (NR % 2) host = $1; else print host, $1 }'
    else
        return 1
    fi
}

# Nothing gave any: all processes run here.
scheduler_none() { printf '%s %s\n' "$(uname -n)" "$processes"; }

# Set `scheduler`, and write `machines`: the hosts with the processes on each, as many as are asked for.
find_machines() {
    # A single process is here, where programs of the batch system may be out of reach: in a box.
    schedulers="slurm sge pbs lsf none"
    [ "$processes" -gt 1 ] || schedulers=none
    for scheduler in $schedulers; do
        "scheduler_$scheduler" >"$machines.all" 2>/dev/null && [ -s "$machines.all" ] && break
    done
    count "$machines.all"
    [ "$found" -ge "$processes" ] ||
        fail "The batch system gave $found processors for $processes processes; nothing was started."
    awk -v left="$processes" 'left > 0 { n = $2 < left ? $2 : left; left -= n; print $1, n }' "$machines.all" \
        >"$machines"
    count "$machines"
    read -r first all <"$machines"
    rm -f "$machines.all"
    # One host is this one: where the batch system started the job.
    local=
    [ "$hosts" -gt 1 ] || local=1
}

# --- MPI: each finds its launcher, and sets the words with which it starts things on those machines.

# Set `launcher` to the first that function $2 takes for its own: in the folder $1 that the site names, in PATH, or in
# FOLDERS. The rest: names.
find_launcher() {
    at=$1 suits=$2
    shift 2
    launcher= ours=
    IFS=:
    for folder in ${at:+"$at/bin"} $PATH -- $folders; do
        case $folder in --) ours=1 && continue ;; esac
        for name do
            file=$folder${ours:+/bin}/$name
            [ -x "$file" ] && [ -f "$file" ] && "$suits" "$file" || continue
            launcher=$file
            break 2
        done
    done
    IFS=$blanks
    [ -n "$launcher" ] || return 1
    # Hooks that compile take the compiler of the same installation.
    export PATH="${launcher%/*}:$PATH"
    # What was not in PATH has its libraries beside it.
    [ -z "$ours" ] || export LD_LIBRARY_PATH="$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

is_openmpi() { "$1" --version 2>/dev/null </dev/null | grep -q -e 'Open MPI' -e OpenRTE -e 'Open RTE'; }
is_mpich() { "$1" --version 2>/dev/null </dev/null | grep -q HYDRA; }

mpi_openmpi() {
    find_launcher "${MPI_OPENMPI_PATH:-}" is_openmpi mpiexec.openmpi mpiexec mpirun ||
        fail "There is no mpiexec of Open MPI on this node."
    # Containers and test systems have no other account; this is the owner's own job.
    if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
    if [ -n "$local" ]; then
        # Nothing is to be asked of the batch system for what runs here.
        export OMPI_MCA_ras=^slurm,tm,lsf,gridengine OMPI_MCA_plm=^slurm,tm,lsf PRTE_MCA_ras=^slurm,pbs,lsf \
            PRTE_MCA_plm=^slurm,tm,lsf
        echo "localhost slots=$processes" >"$machines.mpi"
    else
        sed 's/ / slots=/' "$machines" >"$machines.mpi"
        case $scheduler in
        sge) agent='qrsh -inherit -nostdin -V' ;;
        lsf) agent=blaunch ;;
        *) agent= ;;
        esac
        if [ -n "$agent" ]; then export OMPI_MCA_plm_rsh_agent="${OMPI_MCA_plm_rsh_agent:-$agent}" \
            PRTE_MCA_plm_ssh_agent="${PRTE_MCA_plm_ssh_agent:-$agent}"; fi
    fi
    passed=
    if [ -z "$local" ]; then
        for name in $names; do passed="$passed -x $name"; done
    fi
}
# Processes of other jobs run beside these, so none is bound to a core: all jobs would be bound to the first ones.
start_openmpi() { "$launcher" --bind-to none --hostfile "$machines.mpi" $passed -n "$processes" "$@"; }
each_openmpi() { "$launcher" --bind-to none --hostfile "$machines.mpi" --map-by ppr:1:node -wdir / -n "$hosts" "$@"; }
on_openmpi() {
    there=$1
    shift
    "$launcher" --bind-to none --hostfile "$machines.mpi" --host "$there" -wdir / -n 1 "$@"
}

mpi_mpich() {
    find_launcher "${MPI_MPICH_PATH:-}" is_mpich mpiexec.mpich mpiexec.hydra mpiexec mpirun ||
        fail "There is no mpiexec of MPICH on this node."
    by=ssh
    [ -z "$local" ] || by=fork
    case $local$scheduler in slurm | sge | lsf) by=$scheduler ;; esac
    if [ -n "$local" ]; then
        echo "localhost:$processes" >"$machines.mpi"
    else
        sed 's/ /:/' "$machines" >"$machines.mpi"
        [ -z "${HYDRA_LAUNCHER:-}" ] || by=$HYDRA_LAUNCHER
    fi
    passed="-rmk user -launcher $by"
}
start_mpich() { "$launcher" $passed -f "$machines.mpi" -n "$processes" "$@"; }
each_mpich() {
    sed 's/:.*/:1/' "$machines.mpi" >"$machines.each"
    "$launcher" $passed -f "$machines.each" -wdir / -n "$hosts" "$@"
}
on_mpich() {
    there=$1
    shift
    "$launcher" $passed -hosts "$there" -wdir / -n 1 "$@"
}

# One component of a job over several sites: a proxy of MPICH on each of its nodes calls the launcher, which has all
# proxies start their processes. What those write stays here.
mpi_mpich_g2() {
    mpi_mpich
    proxy=${launcher%/*}/hydra_pmi_proxy
    [ -x "$proxy" ] || fail "There is no hydra_pmi_proxy beside $launcher."
    # The words begin with the version of the launcher's MPICH, if that is known: another one is not understood.
    wanted=${CROSSDESK_MPI_PROXY%% *}
    case $wanted in
    -*) ;;
    *)
        CROSSDESK_MPI_PROXY=${CROSSDESK_MPI_PROXY#* }
        version=$("$launcher" --version 2>/dev/null </dev/null | sed -n 's/^ *Version: *//p' | sed 1q)
        [ "$version" = "$wanted" ] || fail "The MPICH of this site is version ${version:-(unknown)}, and the broker's, which launches the job, is $wanted: load that one by Modules, or name its folder in MPI_MPICH_PATH."
        ;;
    esac
    # The launcher knows how many proxies there are, and how many processes each has.
    read -r proxies each <<END
${CROSSDESK_MPI_LAYOUT:-1 $processes}
END
    awk -v left="$proxies" -v each="$each" '{ n = int($2 / each); if (n > left) n = left; left -= n; if (n) print $1, n }
        END { exit left > 0 }' "$machines" >"$machines.proxies" ||
        fail "The batch system gave $(awk '{ printf "%s%s", sep, $2; sep = " + " }' "$machines") processors of $hosts hosts, which have no room for $proxies parts of $each."
    export MPIR_CVAR_CH4_NETMOD="${MPIR_CVAR_CH4_NETMOD:-ofi}" FI_PROVIDER="${FI_PROVIDER:-tcp}"
}
each_mpich_g2() { each_mpich "$@"; }
on_mpich_g2() { on_mpich "$@"; }

# Runs on one node, in the job's directory $1: proxies $2 to $3 of $4 processes each by the program $5 with the words
# $6, which end with the number of the first; the rest is the application. Exit status: of the first process that
# failed, 0 if none did, or 255 if the end of some is not known. The proxies say nothing of how processes ended: each
# writes that down. The first of all processes reads what this reads, by way of descriptor 9: a terminal, or StdInput.
part='
cd "$1" || exit 255
exec 9<&0
from=$2 to=$3 count=$4 proxy=$5 words=$6
shift 6
quoted() { printf "'\''%s'\''" "$(printf %s "$1" | sed "s/'\''/'\''\\\\'\'''\''/g")"; }
ranks=$PWD/.crossdesk-ranks.$from
{
    printf "cd %s || exit\n" "$(quoted "$PWD")"
    printf "exec >>\"/proc/\$CROSSDESK_MPI_OUT/fd/1\" 2>>\"/proc/\$CROSSDESK_MPI_OUT/fd/2\"\n"
    printf "[ \"\${PMI_RANK:-}\" != 0 ] || ! { true <&9; } 2>/dev/null || exec <&9\nexec 9<&-\n"
    for word do printf "%s " "$(quoted "$word")"; done
    printf "\nstatus=\$?\necho \"\$status\" >>%s\n" "$(quoted "$ranks.ended")"
    # The proxy ends all others for a signal alone; who fails otherwise leaves them some time for their end.
    printf "[ \"\$status\" -le 128 ] || kill \"-\$((status - 128))\" \$\$\n"
    printf "[ \"\$status\" -eq 0 ] || { sleep 3; kill -9 \$\$; }\n"
} >"$ranks"
: >"$ranks.ended"
# What started this may be a launcher of the same kind.
unset PMI_FD PMI_RANK PMI_SIZE PMI_ID PMI_PORT PMI_SPAWNED
number=$from
while [ "$number" -le "$to" ]; do
    CROSSDESK_MPI_RANK=$ranks CROSSDESK_MPI_OUT=$$ "$proxy" $words $number &
    number=$((number + 1))
done
wait
first=$(sed -n "/^0\$/!{ p; q; }" "$ranks.ended")
[ "$(grep -c "^0\$" "$ranks.ended")" -lt "$(((to - from + 1) * count))" ] || first=0
rm -f "$ranks" "$ranks.ended"
exit "${first:-255}"
'
start_mpich_g2() {
    words=${CROSSDESK_MPI_PROXY% } number=${CROSSDESK_MPI_PROXY##*--proxy-id }
    words=${words% *} number=${number% }
    : >"$directory/parts.ended"
    while read -r there count <&3; do
        last=$((number + count - 1)) here=
        set -- "$PWD" "$number" "$last" "$each" "$proxy" "$words" "$@"
        if [ -n "$local" ]; then
            (/bin/sh -c "$part" sh "$@"; echo $? >>"$directory/parts.ended") <&4 4<&- &
        else
            (on_one "$there" /bin/sh -c "$part" sh "$@" </dev/null; echo $? >>"$directory/parts.ended") &
        fi
        shift 6
        number=$((last + 1))
    done 3<"$machines.proxies" 4<&0
    wait
    # Those that were ended because of another one do not know why.
    status=$(sed -n '/^0$/d; /^255$/!{ p; q; }' "$directory/parts.ended")
    ! grep -qv '^0$' "$directory/parts.ended" || return "${status:-1}"
}

# The same in a network of its own. Files that were opened outside cannot be had by way of /proc from in there, so the
# processes take those of the proxy, which were handed down to it.
mpi_pacx_mpi() {
    overlay=${0%/*}/overlay.py
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2>/dev/null ||
        fail "There is no python3 of 3.7 or newer on this node, which carries the network of a job over several sites."
    mpi_mpich_g2
    [ -n "$local" ] || fail "A component that talks by way of the broker runs on one machine, but the batch system gave $hosts."
    export FI_PROVIDER=tcp FI_TCP_IFACE=tun0 I2G_MPI_FLAVOUR=mpich
}
start_pacx_mpi() {
    {
        printf '#!/bin/sh\nexec python3 -B %s run %s /bin/sh -c ' "$(quoted "$overlay")" "$(quoted "$PWD/$note")"
        printf "'CROSSDESK_MPI_OUT=\$\$; export CROSSDESK_MPI_OUT; exec \"\$@\"' sh %s \"\$@\"\n" "$(quoted "$proxy")"
    } >"$directory/carried"
    chmod u+x "$directory/carried"
    proxy=$directory/carried
    start_mpich_g2 "$@"
}
each_pacx_mpi() { each_mpich "$@"; }
on_pacx_mpi() { on_mpich "$@"; }

# A program that starts its processes itself, once; MACHINES has the hosts.
mpi_plain() { launcher= passed=; }
start_plain() { I2G_MPI_MACHINEFILE=$machines "$@"; }

# --- Single programs on hosts: by the batch system where it starts them, else by the library. Open MPI 5 may wait for
# ever for a short program on several hosts, where that of one host is over before the other's has begun.

# The steps of srun share the processors: the launcher's own would wait for the end of one that is being cleared up.
by_srun() { [ "$scheduler" = slurm ] && command -v srun >/dev/null 2>&1; }
srun_on() {
    there=$1 number=$2
    shift 2
    SLURM_OVERLAP=1 SLURM_CPU_BIND=none srun --mpi=none --nodelist="$there" --nodes="$number" --ntasks="$number" --ntasks-per-node=1 --chdir=/ "$@"
}
# Run these words once on each host.
on_each() {
    if by_srun; then
        srun_on "$(awk '{ printf "%s%s", sep, $1; sep = "," }' "$machines")" "$hosts" "$@"
    else
        "each_$type" "$@"
    fi
}
# Run the other words on host $1.
on_one() {
    by_srun || { "on_$type" "$@"; return; }
    there=$1
    shift
    srun_on "$there" 1 "$@"
}

# True if a launcher has failed because the batch system ends the job, which told the other hosts first: who waits
# then hears of it too.
is_being_ended() {
    [ "$scheduler" = slurm ] || return 1
    case $(squeue -h -j "$SLURM_JOB_ID" -o %T 2>/dev/null) in '' | RUNNING) return 1 ;; esac
}

# --- Files: the job's directory on all hosts.

# Print the hosts that lack the directory, as they call themselves.
files_lacking() {
    on_each /bin/sh -c '[ -d "$1" ] || echo "lacks: $(uname -n)"' sh "$PWD" </dev/null 2>/dev/null |
        sed -n 's/.*lacks: //p'
}

# What takes an archive where the directory is not there; a directory that is there is a shared one.
take='if [ -d "$1" ]; then exec cat >/dev/null; fi
mkdir -p "${1%/*}" && mkdir "$1" && cd "$1" && tar -xf - && : >.crossdesk-copy'
# What takes a copy away, and nothing else.
drop='[ ! -f "$1/.crossdesk-copy" ] || rm -rf "$1"'
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
ssh_to() { ssh -o BatchMode=yes -o ConnectTimeout=10 "$1" "sh -c $(quoted "$2") sh $(quoted "$PWD")"; }

files_ssh() {
    while read -r there all; do
        [ "$there" = "$first" ] || ssh_to "$there" : </dev/null >/dev/null 2>&1 || return 1
    done <"$machines"
    while read -r there all; do
        [ "$there" = "$first" ] || tar -cf - . | ssh_to "$there" "$take" || return 1
    done <"$machines"
}
# Where no host can be logged in to: the launcher of the library brings the bytes as its own input.
files_mpi() {
    while read -r there all; do
        [ "$there" = "$first" ] || tar -cf - . | on_one "$there" /bin/sh -c "$take" sh "$PWD" || return 1
    done <"$machines"
}

# Set `copied` to how the files were brought to the hosts that lacked them; empty where all have them.
distribute() {
    copied=
    [ -z "$local" ] && [ "$type" != plain ] && [ -n "$(files_lacking)" ] || return 0
    for copied in ssh mpi; do
        "files_$copied" || continue
        say "the job's files were copied to the other hosts ($copied)."
        return 0
    done
    fail "The job's directory $PWD is not on all of its hosts, and its files could not be copied there."
}
take_back() { on_each /bin/sh -c "$drop" sh "$PWD" </dev/null >/dev/null 2>&1; }

# --- Hooks: files of the sandbox, which are sourced here.

# $1: file, $2: the function that it may define.
run_hook() {
    [ -r "./${1#./}" ] || { say "The hook $1 is not in the job's directory." && return 1; }
    . "./${1#./}" || return
    ! command -v "$2" >/dev/null 2>&1 || "$2"
}

# An MPI-Start of the site's own knows the site best. Its words are split at blanks: others are not given to it.
use_sites_own() {
    own=${I2G_MPI_START:-$(command -v mpi-start)}
    [ -n "$own" ] && [ -x "$own" ] || return 1
    case $* in *[!A-Za-z0-9_./:=+@%,\ -]*) return 1 ;; esac
    I2G_MPI_APPLICATION=$1
    shift
    export I2G_MPI_APPLICATION I2G_MPI_APPLICATION_ARGS="$*" I2G_MPI_NP="$processes"
    say "started by the site's own $own."
    exec "$own"
}

# What the broker says holds, whatever the description sets; only the hooks and the site's own places are others'.
set_interface() {
    for name in $(env | sed -n 's/^\(I2G_MPI_[A-Z0-9_]*\)=.*/\1/p'); do
        case $name in *_HOOK | I2G_MPI_START) ;; *) unset "$name" ;; esac
    done
    export I2G_MPI_TYPE="$type" I2G_MPI_JOB_NUMBER=0 I2G_MPI_PRECOMMAND= I2G_MPI_FLAVOUR= I2G_MPI_STARTUP_INFO= \
        I2G_MPI_RELAY=
}

blanks=$IFS
type=$1 processes=$2 folders=$3 names=$4 directory=$5
shift 5
case $directory in /*) ;; *) directory=$(cd "$directory" && pwd) ;; esac
machines=$directory/machines
# Some launchers end where there is none.
[ -n "${HOME:-}" ] || export HOME="$directory"
case $type in openmpi | mpich | mpich-g2 | pacx-mpi | plain) ;; *) fail "There is no way to start MPI of the kind $type; use openmpi or mpich." ;; esac
set_interface
case $type in
plain) ;;
mpich-g2) type=mpich_g2 I2G_MPI_STARTUP_INFO=${CROSSDESK_MPI_PROXY:-} ;;
pacx-mpi) type=pacx_mpi I2G_MPI_STARTUP_INFO=${CROSSDESK_MPI_PROXY:-} I2G_MPI_RELAY=${CROSSDESK_MPI_OVERLAY%% *} ;;
*) use_sites_own "$@" ;;
esac
find_machines
"mpi_$type"
distribute
export I2G_MPI_APPLICATION="$1" I2G_MPI_NP="$processes"
if [ -n "${I2G_MPI_PRE_RUN_HOOK:-}" ]; then
    run_hook "$I2G_MPI_PRE_RUN_HOOK" pre_run_hook
    failed=$?
    [ "$failed" -eq 0 ] || { say "The hook $I2G_MPI_PRE_RUN_HOOK failed; nothing was started." && exit "$failed"; }
fi
"start_$type" "$@"
status=$?
[ "$status" -eq 0 ] || ! is_being_ended || sleep 60
if [ -n "${I2G_MPI_POST_RUN_HOOK:-}" ]; then
    (run_hook "$I2G_MPI_POST_RUN_HOOK" post_run_hook) || say "The hook $I2G_MPI_POST_RUN_HOOK failed."
fi
[ -z "$copied" ] || take_back
exit "$status"
