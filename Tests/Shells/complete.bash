# Prints the completions that bash offers for a command line, one a line.
#
#     bash --norc Tests/Shells/complete.bash SCRIPT WORD...
#
# SCRIPT is the completion script. The last word is the one to complete.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
COMP_TYPE=9
COMPREPLY=()
function=$(complete -p "$1" | sed -n 's/.*-F \([^ ]*\).*/\1/p')
"$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
