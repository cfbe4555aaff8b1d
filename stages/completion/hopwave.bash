# Completion of hopwave and its programs for bash. The options come from the programs' own tables
# (--help=options), so that nothing here has to be kept in step with them.
# shellcheck shell=bash

# _hopwave_table PROGRAM [COMMAND]: lines "--name", argument, text, between tabs.
_hopwave_table() {
    if [[ $1 == *hopwave-study ]]; then
        [[ -z ${2-} ]] || "$1" "$2" --help 2>/dev/null |
            sed -n 's/^ *\(-[a-z][^,]*, \)\{0,1\}\(--[a-z][a-z-]*\) \{0,1\}\([^ ]*\).*/\2\t\3\t/p'
    else
        "$1" --help=options 2>/dev/null
    fi
}

# _hopwave_study_commands PROGRAM: the commands of hopwave-study.
_hopwave_study_commands() {
    "$1" --help 2>/dev/null | sed -n 's/^    \([a-z][a-z]*\)\( .*\)\{0,1\}$/\1/p'
}

# _hopwave_values ARGUMENT: the words among "a|b|NAME".
_hopwave_values() {
    tr -d '[]' <<<"$1" | tr '|' '\n' | grep -E '^[a-z0-9][a-z0-9-]*$'
}

_hopwave() {
    local current=${COMP_WORDS[COMP_CWORD]} previous='' program=$1 command='' first=1 argument words
    # bash takes = for a word of its own.
    if [[ $current == '=' ]]; then
        current='' previous=${COMP_WORDS[COMP_CWORD - 1]}
    elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == '=' && $COMP_CWORD -gt 1 ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    else
        previous=${COMP_WORDS[COMP_CWORD - 1]}
    fi
    COMPREPLY=()
    if [[ ${program##*/} == hopwave ]]; then
        if ((COMP_CWORD == 1)); then
            words=$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p')
            mapfile -t COMPREPLY < <(compgen -W "$words help --help --version" -- "$current")
            return
        fi
        program=$program-${COMP_WORDS[1]} first=2
    fi
    if [[ ${program##*/} == hopwave-study ]]; then
        if ((COMP_CWORD == first)); then
            words=$(_hopwave_study_commands "$program")
            mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$current")
            return
        fi
        command=${COMP_WORDS[first]}
    fi
    if [[ $previous == --* ]]; then
        argument=$(_hopwave_table "$program" "$command" |
            awk -F '\t' -v name="$previous" '$1 == name { print $2; exit }')
        if [[ $previous == --method ]]; then
            words=$("$program" --list-methods 2>/dev/null | awk '{ print $1 }')
            mapfile -t COMPREPLY < <(compgen -W "auto $words" -- "$current")
            return
        elif [[ -n $argument && $argument != \[* ]]; then
            words=$(_hopwave_values "$argument")
            [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
            [[ -n $words && $argument != *FILE* ]] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \
                < <(compgen -f -- "$current")
            return
        fi
    fi
    if [[ $current == -* ]]; then
        words=$(_hopwave_table "$program" "$command" | cut -f 1)
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}
complete -o filenames -F _hopwave hopwave hopwave-export hopwave-generate hopwave-import \
    hopwave-info hopwave-partition hopwave-search hopwave-study hopwave-traverse hopwave-validate
