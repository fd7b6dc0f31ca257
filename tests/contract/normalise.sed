# Replaces what differs from run to run. The paths of the room and of the program are replaced before.
s/(^|[^0-9A-Za-z])0[0-9A-HJKMNP-TV-Z]{25}\b/\1@ULID@/g
s/(^|[^0-9A-Za-z])0[0-9a-hjkmnp-tv-z]{25}\b/\1@ULID@/g
s/\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{5,8}(\.[0-9]+)?(Z| ?[-+][0-9]{2}:?[0-9]{2})?( UTC)?/@TIME@/g
s/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/@UUID@/g
s/\bsha256:[0-9a-f]+/sha256:@ID@/g
s/(^|[^0-9A-Za-z])[0-9a-f]{64}\b/\1@ID@/g
s/(^|[^0-9A-Za-z])[0-9a-f]{40}\b/\1@ID@/g
s/(^|[^0-9A-Za-z])[0-9a-f]{7,32}\b/\1@ID@/g
s/\b[0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h)( [0-9]+(ns|us|µs|ms|s|m))*\b/@DURATION@/g
s/\b[0-9]+(\.[0-9]+)? (s|ms|milliseconds|seconds|second|minutes|minute|hours|hour|days|day)\b/@DURATION@/g
s/\b(cook|version) ?[0-9]+\.[0-9]+\.[0-9]+(-[0-9a-z.]+)?/\1 @VERSION@/g
s/\b(git|python|Python|node|bash) [0-9]+\.[0-9]+(\.[0-9]+)*/\1 @VERSION@/g
s#/dev/fd/[0-9]+#/dev/fd/@N@#g
s#/proc/[0-9]+#/proc/@N@#g
s/\bprocess [0-9]+/process @N@/g
s/\bpid [0-9]+/pid @N@/g
s/version "[0-9]+\.[0-9]+\.[0-9]+[^"]*"/version "@VERSION@"/g
s/^code (clean_room)$//
s/\b[0-9]+ (bytes|objects)\b/@N@ \1/g
s/ +$//
