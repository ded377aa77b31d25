#!/bin/sh
# Installs ctxd for the current user: without root, only in the home folder, and without changes to files of the shell.
#   curl -fsSL @REPOSITORY@/releases/latest/download/install.sh | sh
# It checks the SHA-256 of the download, starts it once, and only then moves it to its place.
set -eu

repository='@REPOSITORY@'
version='@VERSION@'
# The oldest glibc that the embedded libraries work with.
oldest_glibc='@GLIBC@'
dir=
action=installed
record="${HOME:?is not set}/.local/share/ctxd-install/ctxd.install.json"

usage() {
  cat <<EOF
Installs ctxd $version into ~/.local/bin. Options (after "sh -s --" where the script is piped in):
  --version VERSION  another version
  --dir FOLDER       another folder
  --uninstall        remove ctxd again; its data stays
EOF
}

say() { printf '%s\n' "$*"; }
fail() {
  printf 'ctxd was not %s: %s\n' "$action" "$*" >&2
  exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# The name of the executable for this system.
executable_name() {
  case $(uname -m) in
    x86_64 | amd64) cpu=x64 loader=/lib64/ld-linux-x86-64.so.2 ;;
    aarch64 | arm64) cpu=arm64 loader=/lib/ld-linux-aarch64.so.1 ;;
    *) fail "there is no executable for the processor $(uname -m), only for x86_64 and arm64." ;;
  esac
  case $(uname -s) in
    Linux)
      check_glibc "$loader"
      echo "ctxd-linux-$cpu"
      ;;
    Darwin)
      # In a shell under Rosetta, uname reports an Intel processor on Apple silicon.
      [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" != 1 ] || cpu=arm64
      [ "$cpu" = arm64 ] || fail "there is no executable for Macs with an Intel processor, only for Apple silicon."
      echo ctxd-darwin-arm64
      ;;
    *) fail "this script is for Linux and macOS, not for $(uname -s); on Windows, use winget or npm." ;;
  esac
}

check_glibc() {
  found=$(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>/dev/null | head -n 1) || found=
  found=$(printf '%s' "$found" | sed -n 's/.*[^0-9.]\([0-9][0-9]*\.[0-9][0-9]*\)[^ ]*$/\1/p')
  if [ -z "$found" ]; then
    for musl in /lib/ld-musl-*; do
      [ ! -e "$musl" ] || fail "ctxd needs a Linux with glibc $oldest_glibc or later; this one has musl (such as Alpine)."
    done
  fi
  oldest=$(printf '%s\n%s\n' "${found:-$oldest_glibc}" "$oldest_glibc" | sort -t . -k 1,1n -k 2,2n | head -n 1)
  [ "$oldest" = "$oldest_glibc" ] || fail "ctxd needs glibc $oldest_glibc or later; this system has $found."
  [ -e "$1" ] || fail "ctxd needs a Linux with glibc for $(uname -m), but $1 does not exist."
}

# Downloads an address ($1) into a file ($2).
download() {
  if has curl; then
    case $1 in
      https:*) curl -fsSL --proto '=https' --tlsv1.2 --retry 2 -o "$2" "$1" ;;
      *) curl -fsSL --retry 2 -o "$2" "$1" ;;
    esac
  elif has wget; then
    wget -q -O "$2" "$1"
  else
    fail "curl or wget is needed for the download."
  fi || fail "$1 could not be downloaded."
}

sha256_of() {
  if has sha256sum; then
    sha256sum "$1"
  elif has shasum; then
    shasum -a 256 "$1"
  else
    openssl dgst -sha256 -r "$1"
  fi | cut -d ' ' -f 1
}

install_ctxd() {
  case $version in *[!0-9A-Za-z.-]* | '') fail "--version $version is not a version." ;; esac
  [ -n "$dir" ] || dir=$HOME/.local/bin
  case $dir in
    *[\"\\]*) fail "the name of $dir contains a quotation mark or a backslash: choose another folder." ;;
    /*) ;;
    *) dir=$(pwd)/$dir ;;
  esac
  target=$dir/ctxd
  [ ! -L "$target" ] || fail "$target is a symbolic link: remove it, or choose another folder with --dir."
  [ ! -d "$target" ] || fail "$target is a folder: choose another folder with --dir."
  has sha256sum || has shasum || has openssl || fail "sha256sum, shasum or openssl is needed to check the download."
  name=$(executable_name)
  from=$repository/releases/download/v$version

  mkdir -p "$dir" || fail "the folder $dir can't be created."
  # In the same folder, so that the file can be moved atomically.
  work=$(mktemp -d "$dir/.ctxd-install.XXXXXX") || fail "the folder $dir can't be written to."
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' HUP INT TERM

  say "Downloading $from/$name"
  download "$from/SHA256SUMS" "$work/SHA256SUMS"
  download "$from/$name" "$work/ctxd"
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\$/\1/p" "$work/SHA256SUMS")
  [ -n "$wanted" ] || fail "SHA256SUMS of the release has no line for $name."
  found=$(sha256_of "$work/ctxd")
  [ "$found" = "$wanted" ] || fail "the download is damaged: its SHA-256 is $found, not $wanted."
  say "Its SHA-256 matches the release: $wanted"

  chmod 755 "$work/ctxd"
  started=$("$work/ctxd" --version 2>&1) || fail "it does not start on this system: $started"
  mv -f "$work/ctxd" "$target" || fail "$target can't be written."
  mkdir -p "$(dirname "$record")"
  printf '{"by":"install.sh","version":"%s","path":"%s"}\n' "$version" "$target" >"$record"
  say "Installed: $target ($started)"
  say_next
}

say_next() {
  command=ctxd
  case ":$PATH:" in
    *":$dir:"*)
      # An earlier entry of the PATH would start another program.
      first=$(command -v ctxd || true)
      [ "$first" = "$target" ] || say "The command ctxd starts another program, earlier in your PATH: $first"
      ;;
    *)
      command=$target
      say "$dir is not in your PATH. Add this line to the start file of your shell (such as ~/.profile):"
      say "  export PATH=\"$dir:\$PATH\""
      ;;
  esac
  say "Next: $command connect (sets up an agent on this machine), or $command (runs the server)."
}

uninstall_ctxd() {
  [ -f "$record" ] || fail "this script did not install it ($record does not exist)."
  target=$(sed -n 's/.*"path":"\([^"]*\)".*/\1/p' "$record")
  for service in "${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/ctxd.service" "$HOME/Library/LaunchAgents/ctxd.plist"; do
    # Only if the service starts this executable.
    if [ -f "$service" ] && grep -qF "$target" "$service" && [ -x "$target" ]; then "$target" service uninstall || true; fi
  done
  # Also the former version, which an earlier `ctxd upgrade --install` kept.
  rm -f "$target" "$target.old" "$record"
  rmdir "$(dirname "$record")" 2>/dev/null || true
  say "Removed: $target"
  say "Kept: your memories in ${XDG_DATA_HOME:-$HOME/.local/share}/ctxd, and temporary files in ${XDG_CACHE_HOME:-$HOME/.cache}/ctxd."
}

main() {
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --dir)
        [ $# -gt 1 ] || fail "$1 needs a value."
        if [ "$1" = --dir ]; then dir=$2; else version=${2#v}; fi
        shift
        ;;
      --uninstall) action=removed ;;
      --help | -h)
        usage
        exit 0
        ;;
      *) fail "there is no option $1; --help lists all options." ;;
    esac
    shift
  done
  if [ "$action" = removed ]; then uninstall_ctxd; else install_ctxd; fi
}

# In the last line, so that a truncated script does nothing.
main "$@"
