# SPDX-License-Identifier: Apache-2.0
"""Someone working in bash: looking at files, sorting, searching, packing, compiling a small program."""
import common

args = common.arguments(lines=400000, seed=6, median=6.0)
folder = common.output(args, "home")
CELLS = ["ls -la; df -h . | tail -1",
         "seq %d | awk 'BEGIN{srand(%d)} {print int(rand()*100000), $1, \"name\" int(rand()*900)}' > log.txt; wc log.txt"
         % (common.few(args.lines), args.seed), "head -3 log.txt; tail -3 log.txt", "grep -c 'name77' log.txt",
         "sort -n log.txt > sorted.txt; head -2 sorted.txt", "cut -d' ' -f3 log.txt | sort | uniq -c | sort -rn | head -5",
         r"""cat > sum.c <<'X'
#include <stdio.h>
int main(void) { double s = 0; for (long i = 1; i < 300000000; i++) s += 1.0 / i; printf("%f\n", s); }
X
cat sum.c""",
         "gcc -O2 -o sum sum.c && ./sum", "find /usr/include -maxdepth 2 -name '*.h' | xargs grep -l pthread 2>/dev/null | wc -l",
         "gzip -k -f log.txt; ls -l log.txt.gz", "md5sum log.txt sorted.txt", "ps aux | wc -l; uptime",
         "awk '{s[$3]+=$1} END{for(k in s) print s[k], k}' log.txt | sort -rn | head -3",
         "sed 's/name/item/g' log.txt > items.txt; diff -q log.txt items.txt", "du -sh /usr/share/doc | tail -1",
         "tar cf all.tar *.txt; tar tf all.tar", "cat /proc/meminfo | head -3"]
common.bash_session(args, CELLS, folder, args.seed, args.median)
