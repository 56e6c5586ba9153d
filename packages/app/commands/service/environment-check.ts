/**
 * A program for awk that finds the lines of an environment file that systemd and a shell read differently. It prints
 * the number and the name of the first one, never its value, and ends with 1. `\047` is a single quote, `\140` a backquote.
 */
export const environmentCheck = String.raw`
function refuse(why) { print "line " line ": " why; refused = 1; exit 1 }
function quotes() { refuse(name " is read differently by systemd and by a shell: put the value into single quotes, " name "=\047...\047") }
{
  rest = $0
  if (quote == "") {
    if (rest ~ /^[ \t]*(#.*)?$/) next
    line = NR
    if (!match(rest, /^[ \t]*[A-Za-z_][A-Za-z0-9_]*=/)) refuse("not a line NAME=VALUE, as systemd reads it")
    name = substr(rest, 1, RLENGTH - 1)
    gsub(/[ \t]/, "", name)
    rest = substr(rest, RLENGTH + 1)
    if (rest !~ /^["\047]/) {
      if (rest !~ /^([^ \t\r&;$()<>|\140\047"\\]|\\.)*[ \t]*$/ || rest ~ /(^|:)~/) quotes()
      next
    }
    quote = substr(rest, 1, 1)
    rest = substr(rest, 2)
  }
  inside = quote == "\"" ? "^([^\"\\\\$\140]|\\\\.)*" : "^[^\047]*"
  match(rest, inside)
  rest = substr(rest, RLENGTH + 1)
  if (rest == "" || rest == "\\") next
  if (substr(rest, 1, 1) != quote || substr(rest, 2) !~ /^[ \t]*$/) quotes()
  quote = ""
}
END { if (!refused && quote != "") { print "line " line ": the quotes of " name " do not end"; exit 1 } }
`.trim();
