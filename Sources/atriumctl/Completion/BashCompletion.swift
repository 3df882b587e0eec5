/// What bash needs beyond the completion script that the argument parser makes.
enum BashCompletion {
    /// A text to print, with that added where it is bash's script.
    static func completed(_ text: String) -> String {
        guard text.hasPrefix("#!/bin/bash\n"), text.contains(registration) else { return text }
        return text.replacing(registration, with: wholeWords)
    }

    /// The script's last line, which has bash call it.
    private static let registration = "complete -o filenames -F _atriumctl atriumctl"

    /// Puts words together as they were typed.
    ///
    /// bash splits them at the characters of `COMP_WORDBREAKS`, `=` and `:` among them, and replaces
    /// but the part under the cursor: of what is offered the parts before it are left out again. The
    /// value after `--option=` is a word of its own.
    private static let wholeWords = #"""
        _atriumctl_whole_words() {
            local -a words=()
            local -i index
            local line="${COMP_LINE}" previous='' before='' word gap
            for index in "${!COMP_WORDS[@]}"; do
                word="${COMP_WORDS[index]}"
                gap="${line%%[![:space:]]*}"
                line="${line#"${gap}"}"
                line="${line#"${word}"}"
                [[ "${index}" -le "${COMP_CWORD}" ]] || break
                if [[ "${index}" -gt 0 && -z "${gap}" && -n "${word}" \
                    && ("${word}" != *[!=:]* || "${previous}" != *[!=:]*) ]]; then
                    before="${words[-1]}"
                    words[-1]+="${word}"
                else
                    before=""
                    words+=("${word}")
                fi
                [[ "${word}" == *[!=:]* || -z "${word}" ]] || before="${words[-1]}"
                previous="${word}"
            done

            local -i cursor="${#words[@]}-1"
            local whole="${words[cursor]}"
            if [[ "${whole}" == --*=* ]]; then
                words=("${words[@]::cursor}" "${whole%%=*}" "${whole#*=}")
                cursor+=1
                before="${before#"${whole%%=*}="}"
            fi
            local -a COMP_WORDS=("${words[@]}")
            local -i COMP_CWORD="${cursor}"
            _atriumctl "${1}" "${words[cursor]}" "${words[cursor - 1]}"
            # As a file's name each = would get a backslash.
            [[ "${COMPREPLY[*]-}" != *[=:]* ]] || compopt +o filenames 2>/dev/null
            COMPREPLY=("${COMPREPLY[@]#"${before}"}")
        }

        complete -o filenames -F _atriumctl_whole_words atriumctl
        """#
}
