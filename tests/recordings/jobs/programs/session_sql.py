# SPDX-License-Identifier: Apache-2.0
"""Someone asking questions of an SQLite database from a Python prompt."""
import common

args = common.arguments(rows=300000, seed=3, median=6.0)
folder = common.output(args, "home")
CELLS = ["import sqlite3, random; db = sqlite3.connect('shop.db'); r = random.Random(%d)" % args.seed,
         "ask = lambda q: print(db.execute(q).fetchmany(10))",
         "db.execute('create table if not exists sale(id integer primary key, who int, what int, price real)')",
         "db.executemany('insert into sale(who, what, price) values(?,?,?)', "
         "((r.randrange(5000), r.randrange(300), r.random() * 90) for _ in range(%d))); db.commit()" % common.few(args.rows),
         "ask('select count(*), avg(price), max(price) from sale')",
         "ask('select what, sum(price) s from sale group by what order by s desc')",
         "ask('select who, count(distinct what) n from sale group by who order by n desc')",
         "db.execute('create index if not exists by_who on sale(who)'); db.commit()",
         "ask('select * from sale where who = 77 order by price desc')",
         "ask('select a.what, b.what, count(*) n from sale a join sale b on a.who = b.who and a.id < b.id "
         "where a.who < 60 group by 1, 2 order by n desc')",
         "ask('explain query plan select * from sale where who = 5')",
         "db.execute('update sale set price = price * 1.02 where what < 30'); db.commit()",
         "ask('select round(price / 10) bin, count(*) from sale group by bin')",
         "db.execute('create table if not exists big as select * from sale where price > 60'); db.commit()",
         "ask('select who, avg(price) from big group by who having count(*) > 20 order by 2 desc')"]
common.python_session(args, CELLS, folder, args.seed, args.median)
