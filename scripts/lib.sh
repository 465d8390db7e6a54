# Shared by scripts/demo and scripts/test: what they need from Debian, and how they build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build_packages=(g++ cmake ninja-build ccache pkg-config libeigen3-dev libspectra-dev libopenblas-pthread-dev libtbb-dev libcli11-dev
  nlohmann-json3-dev libfmt-dev libfast-float-dev zlib1g-dev libpng-dev libhdf5-dev libmatio-dev libseccomp-dev coinor-libclp-dev
  liblinear-dev libsvm-dev libgtest-dev)  # the release preset configures the tests, too
test_packages=(clang-format-14 python3-numpy python3-scipy python3-sklearn python3-h5py python3-pandas
  python3-anndata plink1.9)
# The Python package: built and tested with Debian's interpreter and its scikit-learn, beside newer ones in environments of their own.
python_packages=(python3-venv python3-dev python3-numpy python3-scipy python3-sklearn python3-pandas python3-matplotlib)
report_packages=(chromium fonts-dejavu-core)
full_packages=(clang-14 clang-tidy-14 libclang-rt-14-dev libbenchmark-dev)

say() { printf '\n== %s\n' "$*"; }

# Installs those of the named packages that are missing, and says so; asks apt for nothing when all are there.
install_missing() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "All $# Debian packages are there"
    return
  fi
  say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "sudo is needed to install packages; or run as root: apt-get install ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  # A machine that has just started may be installing something of its own: apt waits for its lock instead of failing.
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600)
  "${apt[@]}" update -qq
  "${apt[@]}" install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# build PRESET [TARGET...]: configures and builds into build/PRESET.
build() {
  local preset=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  say "Building ($preset) into build/$preset"
  cmake --preset "$preset" --log-level=WARNING &&
    cmake --build --preset "$preset" "${targets[@]}"
}
