# What a command printed, with `out` or `err` in front, and the codes in it. FORM is `text`, `codes` (the codes
# alone), or `shown` where standard output was shown already.
{
  if (err ? form != "codes" : form == "text") print (err ? "err " : "out ") $0
  rest = $0
  while (match(rest, /error\[[a-z_]+\]|\[[a-z0-9]+(_[a-z0-9]+)+\]/)) {
    code = substr(rest, RSTART, RLENGTH)
    rest = substr(rest, RSTART + RLENGTH)
    gsub(/^error|[][]/, "", code)
    codes[code] = 1
  }
}
END {
  for (code in codes) {
    for (n = count; n > 0 && sorted[n] > code; n--) sorted[n + 1] = sorted[n]
    sorted[n + 1] = code
    count++
  }
  for (n = 1; n <= count; n++) print "code " sorted[n]
}
