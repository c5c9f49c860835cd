#!/bin/sh
# install.sh: install kasoku from a release, checked against its checksums.
#
#   sh install.sh              the latest release into /usr/local/bin
#   PREFIX=$HOME/.local VERSION=v1.2.3 sh install.sh
#   FROM=/media/usb sh install.sh       from files that are there: the archive and SHA256SUMS
#
# Nothing is installed unless the archive has the checksum that SHA256SUMS gives. Who can replace
# both can still lie: compare SHA256SUMS with what you got from somewhere else, and give that as
# SUMS=FILE. It needs curl or wget, sha256sum, and unzip, bsdtar or python3.
set -eu

die() { echo "install.sh: $*" >&2; exit 3; }
have() { command -v "$1" >/dev/null 2>&1; }

case $(uname -s) in Linux) ;; *) die "kasoku is for Linux" ;; esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) die "there is no archive for $(uname -m)" ;;
esac
have sha256sum || die "no sha256sum here"

prefix=${PREFIX:-/usr/local}
archive=kasoku_linux_$arch.zip
releases=https://github.com/kasoku/kasoku/releases
if [ -n "${VERSION:-}" ]; then from=$releases/download/$VERSION; else from=$releases/latest/download; fi
from=${FROM:-$from}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 3' HUP INT TERM

# get NAME: bring a file of the release into $work.
get() {
	case $from in
	http://* | https://*)
		# From https no step leads to http, where anyone on the way may answer.
		only=
		case $from in https://*) only='--proto =https --proto-redir =https' ;; esac
		if have curl; then
			# shellcheck disable=SC2086 # several words
			curl -fsSL $only --retry 2 -o "$work/$1" "$from/$1" || die "cannot get $from/$1"
		elif have wget; then
			wget -q -S -O "$work/$1" "$from/$1" 2>"$work/steps" || die "cannot get $from/$1"
			if [ -n "$only" ] && grep -qi '^ *location: *http:' "$work/steps"; then
				die "$from/$1 leads to a place without https"
			fi
		else
			die "neither curl nor wget here"
		fi
		;;
	*) cp "$from/$1" "$work/$1" || die "no $from/$1" ;;
	esac
}
get "$archive"
if [ -n "${SUMS:-}" ]; then cp "$SUMS" "$work/SHA256SUMS"; else get SHA256SUMS; fi

# One line, of this very name: a file that lists it twice, or not at all, says nothing.
grep -E "^[0-9a-f]{64} [ *]$archive\$" "$work/SHA256SUMS" >"$work/sum" || die "SHA256SUMS has no line for $archive"
[ "$(wc -l <"$work/sum")" -eq 1 ] || die "SHA256SUMS has several lines for $archive"
(cd "$work" && sha256sum -c sum >/dev/null 2>&1) || die "$archive has another checksum than SHA256SUMS: nothing was installed"

mkdir "$work/files"
if have unzip; then
	unzip -q "$work/$archive" -d "$work/files"
elif have bsdtar; then
	bsdtar -xf "$work/$archive" -C "$work/files"
elif have python3; then
	python3 -m zipfile -e "$work/$archive" "$work/files"
else
	die "none of unzip, bsdtar and python3 here"
fi
[ -f "$work/files/kasoku" ] || die "$archive has no kasoku"
chmod 755 "$work/files/kasoku"
"$work/files/kasoku" version >/dev/null || die "kasoku does not run here"

umask 022 # who installs as root installs for all
mkdir -p "$prefix/bin" || die "cannot write to $prefix; PREFIX=\$HOME/.local needs no root"
# By rename, so that a kasoku that runs is not written into.
install -m 755 "$work/files/kasoku" "$prefix/bin/.kasoku.new" ||
	die "cannot write to $prefix/bin; PREFIX=\$HOME/.local needs no root"
mv -f "$prefix/bin/.kasoku.new" "$prefix/bin/kasoku"
for shell in 'bash bash-completion/completions/kasoku' 'zsh zsh/site-functions/_kasoku' 'fish fish/vendor_completions.d/kasoku.fish'; do
	file=$prefix/share/${shell#* }
	mkdir -p "$(dirname "$file")" && "$prefix/bin/kasoku" completion "${shell%% *}" >"$file" || :
done
"$prefix/bin/kasoku" version | head -n 1
echo "installed: $prefix/bin/kasoku"
case :$PATH: in
*":$prefix/bin:"*) echo "next: kasoku init" ;;
*) echo "next: $prefix/bin/kasoku init   ($prefix/bin is not in \$PATH)" ;;
esac
case $prefix in
/usr | /usr/local) ;;
*) echo "under sudo, which has a path of its own: sudo $prefix/bin/kasoku" ;;
esac
