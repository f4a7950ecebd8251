# SPDX-License-Identifier: Apache-2.0
"""Someone at a bash prompt cutting videos and looking at tables with ffmpeg, sqlite3 and awk."""
import common

args = common.arguments(seed=10, median=7.0)
folder = common.output(args, "home")
MADE = "ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=size=640x360:rate=25:duration=8 -threads 1 -c:v mpeg4 in.mp4; ls -l in.mp4"
CELLS = ["ls -la", MADE, "ffprobe -v error -show_entries format=duration in.mp4",
         "ffmpeg -nostdin -v error -y -ss 2 -t 3 -i in.mp4 -threads 1 -vf scale=320:-2 cut.mp4; ls -l cut.mp4",
         "seq 200000 | awk '{print $1 \",\" $1 % 97 \",\" ($1 * 7919) % 1009}' > t.csv; wc -l t.csv", "head -3 t.csv",
         "sqlite3 t.db 'create table if not exists t(a,b,c)' '.mode csv' '.import t.csv t'; ls -l t.db",
         "sqlite3 t.db 'select b, avg(c) from t group by b order by 2 limit 3'",
         "ffmpeg -nostdin -v error -y -i in.mp4 -threads 1 -vf fps=2 p%03d.png; ls p*.png | wc -l", "rm -f p*.png; du -sh .",
         "awk -F, '{s[$2]+=$3} END{for(k in s) if (s[k]>1050000) print k, s[k]}' t.csv | sort | head -3",
         "ffmpeg -nostdin -v error -y -i in.mp4 -threads 1 -vf reverse,eq=contrast=1.3 -c:v mpeg4 back.mp4; ls -l back.mp4",
         "sha256sum in.mp4 t.csv", "uptime"]
common.bash_session(args, CELLS, folder, args.seed, args.median)
