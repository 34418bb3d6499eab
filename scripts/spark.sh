#!/usr/bin/env bash
# Starts a small Spark cluster on this machine, or ends it: a master, two workers of one core each and a Connect
# server, all on loopback. Needs Java 17 and Python, which installs pyspark on first use. Says what it does.
#
#   scripts/spark.sh up FOLDER      installs into FOLDER/venv unless it is there, starts, waits, prints the address
#   scripts/spark.sh down FOLDER    ends what up started
#   scripts/spark.sh kill FOLDER    kills an executor, as a machine that breaks would; its worker starts another
#
# MASTER_PORT (7077) and CONNECT_PORT (15002) choose the ports. SPARK_OPTIONS has more words for the server, such as
# "--jars a.jar,b.jar --conf spark.sql.catalog.shop=…".
set -euo pipefail

version=4.0.1

install() {
  if [[ ! -x $dir/venv/bin/python ]]; then
    printf 'spark: making %s\n' "$dir/venv"
    python3 -m venv "$dir/venv"
  fi
  if ! "$dir/venv/bin/python" -c "import pyspark; assert pyspark.__version__ == '$version'" 2>"$dir/pip.log"; then
    printf 'spark: installing pyspark %s\n' "$version"
    "$dir/venv/bin/pip" install --quiet "pyspark==$version" >>"$dir/pip.log" 2>&1
  fi
}

# start NAME COMMAND... runs it in the background, and keeps its process.
start() {
  local name=$1
  shift
  setsid "$@" >"$dir/$name.log" 2>&1 </dev/null &
  printf '%d %s\n' "$!" "$name" >>"$dir/processes"
}

# reachable PORT waits until something listens on it.
reachable() {
  for _ in $(seq 240); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return 0; fi
    sleep 0.5
  done
  printf 'spark: nothing listens on port %d; see the logs in %s\n' "$1" "$dir" >&2
  return 1
}

up() {
  install
  down
  local master_port=${MASTER_PORT:-7077} connect_port=${CONNECT_PORT:-15002} options
  read -rd "" -a options <<<"${SPARK_OPTIONS:-}" || true
  SPARK_HOME=$("$dir/venv/bin/python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
  # Executors encrypt what they spill, and all listen on loopback alone: Connect listens on every interface by default.
  export SPARK_HOME SPARK_LOCAL_IP=127.0.0.1 SPARK_NO_DAEMONIZE=1 SPARK_LOCAL_DIRS=$dir/local
  local class=$SPARK_HOME/bin/spark-class
  umask 077
  mkdir -p "$dir/local" "$dir/events"
  start master "$class" org.apache.spark.deploy.master.Master --host 127.0.0.1 --port "$master_port" --webui-port 0
  reachable "$master_port"
  for w in 1 2; do
    start "worker$w" "$class" org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --cores 1 --memory 1g --webui-port 0 \
      --work-dir "$dir/work$w" "spark://127.0.0.1:$master_port"
  done
  start connect "$SPARK_HOME/bin/spark-submit" --class org.apache.spark.sql.connect.service.SparkConnectServer \
    --master "spark://127.0.0.1:$master_port" --driver-memory 1g --executor-memory 700m \
    --conf spark.ui.enabled=false --conf spark.io.encryption.enabled=true \
    --conf spark.eventLog.enabled=true --conf "spark.eventLog.dir=file://$dir/events" --conf spark.eventLog.compress=false \
    --conf spark.connect.grpc.binding.address=127.0.0.1 --conf "spark.connect.grpc.binding.port=$connect_port" \
    "${options[@]}"
  reachable "$connect_port"
  printf 'spark: sc://127.0.0.1:%d has two workers of one core each\n' "$connect_port"
}

# alive GROUP reports whether a group has processes that have not ended.
alive() { ps -e -o pgid=,stat= | awk -v group="$1" '$1 == group && $2 !~ /^Z/ { found = 1 } END { exit !found }'; }

# down ends the processes that up started, and theirs. It waits for that: a server that is about to end would be taken for the
# next one.
down() {
  [[ -f $dir/processes ]] || return 0
  local pid name
  while read -r pid name; do
    if kill -- "-$pid" 2>/dev/null; then printf 'spark: ended %s\n' "$name"; fi
  done <"$dir/processes"
  while read -r pid name; do
    for _ in $(seq 60); do
      alive "$pid" || continue 2
      sleep 0.5
    done
    kill -9 -- "-$pid" 2>/dev/null || true
  done <"$dir/processes"
  rm "$dir/processes"
}

# kill_executor kills the executor of the first worker, which is in its group of processes.
kill_executor() {
  local group executor
  group=$(awk '$2 == "worker1" { print $1 }' "$dir/processes")
  executor=$(pgrep -g "$group" -f CoarseGrainedExecutorBackend | head -1)
  kill -9 "$executor"
  printf 'spark: killed an executor of worker1\n'
}

if [[ $# -ne 2 || ($1 != up && $1 != down && $1 != kill) ]]; then
  printf 'usage: scripts/spark.sh up|down|kill FOLDER\n' >&2
  exit 2
fi
mkdir -p "$2"
dir=$(cd "$2" && pwd)
case $1 in
  up) up ;;
  down) down ;;
  kill) kill_executor ;;
esac
