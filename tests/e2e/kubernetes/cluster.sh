#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real Kubernetes of one node or two, with all its listeners on 127.0.0.1 or its own bridge; build.sh builds its servers, can_run.sh
# says whether it can run here. Pods reach the API at its service's address; other services and DNS there are none.
#   cluster.sh up     starts it and waits until the node is ready
#   cluster.sh env    prints settings for a shell: KUBECONFIG, APISERVER, TOKEN, CACERT, KUBELET, DOCKER_HOST, PATH
#   cluster.sh end-api, start-api   its API server is away for a while
#   cluster.sh second-up, second-down   another node, with containers and images of its own; prints its name
#   cluster.sh pid NAME   of dockerd, kubelet ...
#   cluster.sh down   ends what `up` started, and undoes what it changed; logs stay in $K8S_BASE/run/logs
# One at a time on a machine: ports and the bridge have fixed names. $K8S_KUBELET_FLAGS are added to the kubelet's.
set -euo pipefail

base=${K8S_BASE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay/kubernetes}
bin=$base/bin
run=$base/run
pki=$run/pki
logs=$run/logs
pids=$run/pids
node=${K8S_NODE:-$(hostname)}
api=https://127.0.0.1:16443
etcd=http://127.0.0.1:12379
# The bridge's address is the node's: the kubelet refuses a loopback one.
bridge=kbr0
address=172.31.240.1
second=$node-2
second_address=${address%.*}.2
services=10.96.0.0/16
api_service=${services%.*}.1
docker_socket=$run/docker.sock
# In the order in which they are ended: the kubelet would start containers again.
servers=(kubelet-2 dockerd-2 kubelet kube-scheduler kube-controller-manager kube-apiserver dockerd etcd)
# What the kubelet changes outside of its folder, and pods of ours.
sysctls=(vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys
  kernel.keys.root_maxbytes)
outside=(/var/lib/kubelet /var/log/pods /var/log/containers /usr/libexec/kubernetes /run/assay)
export NO_PROXY=127.0.0.1,localhost,$address no_proxy=127.0.0.1,localhost,$address

die() {
  echo "cluster: $*" >&2
  exit 1
}
kube() { "$bin/kubectl" --cache-dir "$run/cache" --kubeconfig "$run/admin.kubeconfig" "$@"; }
docker_of() { DOCKER_HOST=unix://$docker_socket docker "$@"; }

start_time() { awk '{print $22}' "/proc/$1/stat" 2>/dev/null; }
is_alive() { # NAME: it runs and is still the one that was started
  local pid time
  [[ -r $pids/$1 ]] || return 1
  read -r pid time <"$pids/$1"
  [[ $(start_time "$pid") == "$time" ]]
}
start() { # NAME COMMAND...
  local name=$1
  shift
  setsid "$@" >"$logs/$name.log" 2>&1 </dev/null &
  echo "$! $(start_time $!)" >"$pids/$name"
}
end() { # NAME
  local pid _ i
  if is_alive "$1"; then
    read -r pid _ <"$pids/$1"
    kill -TERM "$pid" || true
    for ((i = 0; i < 300; i++)); do
      is_alive "$1" || break
      sleep 0.1
    done
    if is_alive "$1"; then kill -KILL "$pid" || true; fi
  fi
  rm -f "$pids/$1"
}
wait_for() { # NAME SECONDS COMMAND...
  local name=$1 seconds=$2 i
  shift 2
  for ((i = 0; i < seconds * 5; i++)); do
    "$@" >/dev/null 2>&1 && return 0
    is_alive "$name" || break
    sleep 0.2
  done
  tail -20 "$logs/$name.log" >&2
  die "$name is not ready, see $logs/$name.log"
}

certificate() { # NAME SUBJECT [ALTERNATIVE-NAMES]
  local extensions='basicConstraints=CA:FALSE
keyUsage=digitalSignature,keyEncipherment
extendedKeyUsage=serverAuth,clientAuth'
  [[ -z ${3:-} ]] || extensions+=$'\n'"subjectAltName=$3"
  openssl req -new -newkey rsa:2048 -nodes -keyout "$pki/$1.key" -subj "$2" 2>/dev/null |
    openssl x509 -req -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 365 \
      -extfile <(echo "$extensions") -out "$pki/$1.crt" 2>/dev/null
}
make_certificates() {
  openssl req -x509 -newkey rsa:2048 -nodes -keyout "$pki/ca.key" -out "$pki/ca.crt" -days 365 -subj /CN=test-ca \
    2>/dev/null
  certificate apiserver /CN=kube-apiserver "IP:127.0.0.1,IP:$api_service,IP:$address,DNS:localhost"
  certificate kubelet "/CN=$node" "IP:127.0.0.1,IP:$address,IP:$second_address,DNS:$node,DNS:localhost"
  certificate to-kubelet /O=system:masters/CN=to-kubelet
  openssl genrsa -out "$pki/sa.key" 2048 2>/dev/null
}
make_user() { # FILE USER [GROUP]
  local token
  token=$(openssl rand -hex 16)
  echo "$token,$2,$1${3:+,\"$3\"}" >>"$pki/tokens.csv"
  [[ $1 != admin ]] || echo "$token" >"$run/admin.token"
  cat >"$run/$1.kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$api", certificate-authority: $pki/ca.crt}}]
users: [{name: u, user: {token: $token}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
END
}
make_files() {
  umask 077
  mkdir -p "$pki" "$logs" "$pids" "$run/plugins"
  make_certificates
  make_user admin admin system:masters
  make_user controller system:kube-controller-manager
  make_user scheduler system:kube-scheduler
  make_user kubelet "system:node:$node" system:nodes
  make_user kubelet-2 "system:node:$second" system:nodes
  umask 022
  cat >"$run/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $address
readOnlyPort: 0
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $pki/kubelet.crt
tlsPrivateKeyFile: $pki/kubelet.key
cgroupDriver: cgroupfs
failSwapOn: false
makeIPTablesUtilChains: false
resolvConf: ""
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, nodefs.inodesFree: 1%, imagefs.available: 1%}
volumePluginDir: $run/plugins
nodeStatusUpdateFrequency: 5s
END
}

# Root in some virtual machines may not lower oom_score_adj, which the kubelet asks for with every pod.
may_lower_oom_score() { ((0x$(awk '/CapEff/ {print $2}' /proc/self/status) >> 24 & 1)); }
make_lax_runtime() {
  cat >"$run/runc-lax" <<'END'
#!/bin/bash
for word in "$@"; do
  [ "$before" != --bundle ] || sed -i -E 's/"oomScoreAdj":-[0-9]+/"oomScoreAdj":0/' "$word/config.json"
  before=$word
done
exec /usr/sbin/runc "$@"
END
  chmod 755 "$run/runc-lax"
}
make_images() { # pause:1, and busybox:1 of the one that is installed here
  local applet folder=$run/image
  mkdir -p "$folder/bin" "$folder/tmp" "$folder/etc"
  tar -C "$bin" -c pause | docker_of import -c 'ENTRYPOINT ["/pause"]' - pause:1 >/dev/null
  cp /usr/bin/busybox "$folder/bin"
  for applet in $(busybox --list); do [[ $applet == busybox ]] || ln -s busybox "$folder/bin/$applet"; done
  tar -C "$folder" -c . | docker_of import -c 'ENV PATH=/bin' - busybox:1 >/dev/null
}

start_dockerd() { # NAME FOLDER PART-OF-THE-NETWORK [COMMAND...]
  local name=$1 folder=$2 part=$3 runtime=()
  shift 3
  if ! may_lower_oom_score; then
    make_lax_runtime
    runtime=(--add-runtime "runc-lax=$run/runc-lax" --default-runtime runc-lax)
  fi
  start "$name" "$@" dockerd -H "unix://$folder/docker.sock" --data-root "$folder/docker" --exec-root "$folder/docker-exec" \
    --pidfile "$folder/docker.pid" --bridge "$bridge" --fixed-cidr "${address%.*}.$part" --iptables=false \
    --ip6tables=false --ip-masq=false --ip-forward=false --exec-opt native.cgroupdriver=cgroupfs "${runtime[@]}"
}
start_etcd() {
  start etcd etcd --name n --data-dir "$run/etcd" --unsafe-no-fsync --listen-client-urls $etcd \
    --advertise-client-urls $etcd --listen-peer-urls http://127.0.0.1:12380 \
    --initial-advertise-peer-urls http://127.0.0.1:12380 --initial-cluster n=http://127.0.0.1:12380
  wait_for etcd 30 curl -fsS $etcd/health
}
start_apiserver() {
  openssl rsa -in "$pki/sa.key" -pubout -out "$pki/sa.pub" 2>/dev/null
  start kube-apiserver "$bin/kube-apiserver" --etcd-servers=$etcd --bind-address=127.0.0.1 --secure-port=16443 \
    --advertise-address=127.0.0.1 --endpoint-reconciler-type=none --tls-cert-file="$pki/apiserver.crt" \
    --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" --token-auth-file="$pki/tokens.csv" \
    --authorization-mode=Node,RBAC --allow-privileged=true --service-cluster-ip-range=$services \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$pki/sa.pub" \
    --service-account-signing-key-file="$pki/sa.key" --kubelet-client-certificate="$pki/to-kubelet.crt" \
    --kubelet-client-key="$pki/to-kubelet.key" --kubelet-certificate-authority="$pki/ca.crt" \
    --kubelet-preferred-address-types=InternalIP
  wait_for kube-apiserver 90 kube get --raw /readyz
}
start_controllers() {
  local config=$run/controller.kubeconfig
  start kube-controller-manager "$bin/kube-controller-manager" --kubeconfig="$config" \
    --authentication-kubeconfig="$config" --authorization-kubeconfig="$config" --bind-address=127.0.0.1 --port=0 \
    --secure-port=10257 --cert-dir="$run/certificates" --leader-elect=false \
    --service-account-private-key-file="$pki/sa.key" --root-ca-file="$pki/ca.crt" \
    --use-service-account-credentials=true --node-monitor-grace-period=120s
  config=$run/scheduler.kubeconfig
  start kube-scheduler "$bin/kube-scheduler" --kubeconfig="$config" --authentication-kubeconfig="$config" \
    --authorization-kubeconfig="$config" --bind-address=127.0.0.1 --port=0 --secure-port=10259 \
    --cert-dir="$run/certificates" --leader-elect=false
}
# Without an environment, it does not look for other people's credentials on the network.
start_kubelet() { # NAME FOLDER NODE ADDRESS [COMMAND...]
  local name=$1 folder=$2 node=$3 address=$4
  shift 4
  # shellcheck disable=SC2086 # one word a flag
  start "$name" "$@" env -i PATH="$PATH" HOME="$folder" AWS_EC2_METADATA_DISABLED=true \
    AWS_SHARED_CREDENTIALS_FILE=/dev/null AWS_CONFIG_FILE=/dev/null "$bin/kubelet" --config="$folder/kubelet.yaml" \
    --kubeconfig="$run/$name.kubeconfig" --hostname-override="$node" --node-ip="$address" \
    --root-dir="$folder/kubelet" --cert-dir="$folder/kubelet/pki" --container-runtime=docker \
    --docker-endpoint="unix://$folder/docker.sock" --docker="unix://$folder/docker.sock" \
    --experimental-dockershim-root-directory="$folder/dockershim" \
    --container-runtime-endpoint="unix://$folder/dockershim.sock" --network-plugin= \
    --pod-infra-container-image=pause:1 ${K8S_KUBELET_FLAGS:-}
}
# What kube-proxy would do.
lead_to_api() { # -A to begin, -D to end
  local words=(-p tcp -d "$api_service" --dport 443 -j DNAT --to-destination "${api#https://}")
  iptables -t nat "$1" OUTPUT "${words[@]}"
  iptables -t nat "$1" PREROUTING -i $bridge "${words[@]}"
}
node_is_ready() { kube get node "$1" -o wide | grep -qw Ready; }

second_docker() { DOCKER_HOST=unix://$run/second/docker.sock docker "$@"; }
second_up() {
  local folder=$run/second images
  mkdir -p "$folder"
  ip address add "$second_address/24" dev $bridge
  # Not below the first one's control groups, where each would remove what is the other's.
  sed "s/^address: .*/address: $second_address/" "$run/kubelet.yaml" >"$folder/kubelet.yaml"
  printf '%s\n' 'healthzPort: 0' 'cgroupsPerQOS: false' 'enforceNodeAllocatable: []' \
    'featureGates: {DevicePlugins: false}' >>"$folder/kubelet.yaml"
  # Nor in folders whose place cannot be chosen.
  # shellcheck disable=SC2016 # for the inner shell
  start_dockerd dockerd-2 "$folder" 64/26 unshare --mount --propagation private bash -c \
    'for f in /var/lib/kubelet /var/log/pods /var/log/containers; do mkdir -p $f && mount -t tmpfs none $f || exit; done
    exec "$@"' -
  wait_for dockerd-2 30 second_docker version
  mapfile -t images < <(docker_of images --filter dangling=false --format '{{.Repository}}:{{.Tag}}')
  docker_of save "${images[@]}" | second_docker load >/dev/null
  start_kubelet kubelet-2 "$folder" "$second" "$second_address" nsenter --mount --target "$(cut -d' ' -f1 "$pids/dockerd-2")"
  wait_for kubelet-2 60 node_is_ready "$second"
  echo "$second"
}
# Its pods do not outlive it, as with a machine that is switched off.
second_down() {
  end kubelet-2
  if is_alive dockerd-2; then
    second_docker ps -aq | DOCKER_HOST=unix://$run/second/docker.sock xargs -r docker rm -f >/dev/null || true
  fi
  end dockerd-2
  ip address delete "$second_address/24" dev $bridge 2>/dev/null || true
  rm -rf --one-file-system "$run/second"
}

up() {
  local name
  for name in "${servers[@]}"; do is_alive "$name" && die "$name runs already; call $0 down first"; done
  [[ -x $bin/kubelet ]] || die "there is no $bin/kubelet; call build.sh first"
  clean_up
  rm -rf "$logs"
  make_files
  sysctl "${sysctls[@]}" >"$run/sysctls"
  for name in "${outside[@]}"; do [[ -e $name ]] || echo "$name"; done >"$run/outside"
  ip link add $bridge type bridge
  ip address add $address/24 dev $bridge
  ip link set $bridge up
  # Another dockerd may drop what is forwarded.
  iptables -I FORWARD -i $bridge -o $bridge -j ACCEPT
  lead_to_api -A
  ip route add "$api_service" dev $bridge
  sysctl -q -w net.ipv4.conf.$bridge.route_localnet=1
  start_dockerd dockerd "$run" 128/25
  start_etcd
  start_apiserver
  start_controllers
  wait_for dockerd 30 docker_of version
  make_images
  start_kubelet kubelet "$run" "$node" $address
  wait_for kubelet 90 node_is_ready "$node"
  wait_for kube-controller-manager 60 kube -n default get serviceaccount default
}

clean_up() {
  local path i
  awk -v below="$run/" 'index($2, below) == 1 {print $2}' /proc/self/mounts | sort -r |
    while read -r path; do umount -l "$path" 2>/dev/null || true; done
  for i in 1 2 3; do find /sys/fs/cgroup/*/kubepods -depth -type d -exec rmdir {} \; 2>/dev/null || true; done
  if [[ -f $run/sysctls ]]; then sysctl -q -p "$run/sysctls" || true; fi
  if [[ -f $run/outside ]]; then
    while read -r path; do rm -rf --one-file-system "$path"; done <"$run/outside"
  fi
  iptables -D FORWARD -i $bridge -o $bridge -j ACCEPT 2>/dev/null || true
  lead_to_api -D 2>/dev/null || true
  ip link delete $bridge 2>/dev/null || true
  [[ ! -d $run ]] || find "$run" -mindepth 1 -maxdepth 1 ! -name logs -exec rm -rf --one-file-system {} +
}
down() {
  local name
  second_down
  end kubelet
  if is_alive dockerd; then docker_of ps -aq | xargs -r env DOCKER_HOST="unix://$docker_socket" docker rm -f >/dev/null || true; fi
  for name in "${servers[@]}"; do end "$name"; done
  clean_up
}

environment() {
  echo "export KUBECONFIG=$run/admin.kubeconfig APISERVER=$api CACERT=$pki/ca.crt TOKEN=$(<"$run/admin.token")"
  echo "export KUBELET=https://$address:10250 DOCKER_HOST=unix://$docker_socket PATH=$bin:\$PATH"
}

case "${1:-}" in
  up | down) "$1" ;;
  env) environment ;;
  end-api) end kube-apiserver ;;
  start-api) start_apiserver ;;
  second-up) second_up ;;
  second-down) second_down ;;
  pid) is_alive "$2" && cut -d' ' -f1 "$pids/$2" ;;
  *)
    sed -n '3,11s/^# //p' "$0"
    exit 2
    ;;
esac
