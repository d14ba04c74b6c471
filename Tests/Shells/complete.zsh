# Prints the completions that zsh offers for a command line, one a line.
#
#     zsh -f Tests/Shells/complete.zsh FOLDER WORD...
#
# FOLDER contains the completion script _airframectl. The last word is the one to complete. An interactive zsh on a
# pseudo-terminal completes it; its compadd adds the matches to a file instead of showing them.
emulate zsh
zmodload zsh/zpty
folder=$1
shift
line="${(j: :)@}"
result=$(mktemp)
zpty worker zsh -f -i
zpty -w worker "PS1=; unset zle_bracketed_paste; stty -echo"
zpty -w worker "fpath=($folder \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w worker "compadd() { local -a found; builtin compadd -O found \"\$@\"; print -rl -- \$found >> $result; builtin compadd \"\$@\" }"
zpty -w worker "bindkey '^I' list-choices; print READY"
while zpty -r worker text && [[ $text != *READY* ]]; do :; done
zpty -w -n worker "$line"$'\t'
for attempt in {1..50}; do
    sleep 0.1
    zpty -r -t worker text
    [[ -s $result ]] && { sleep 0.3; break }
done
zpty -d worker
sort -u $result | grep -v '^$'
rm -f $result
