/** The script of each shell, which calls `ctxd complete` for words. */
export const COMPLETION_SCRIPTS = {
  bash: `_ctxd() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _ctxd ctxd
`,
  zsh: `#compdef ctxd
_ctxd() {
  local -a found
  found=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
# As a file of its own, zsh reads it at the first completion.
if [[ "\${funcstack[1]}" == _ctxd ]]; then _ctxd "$@"; else compdef _ctxd ctxd; fi
`,
  fish: `function __ctxd_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  $before[1] complete -- $before[2..-1] "$current" 2>/dev/null
end
complete -c ctxd -a '(__ctxd_complete)'
`,
} as const;
