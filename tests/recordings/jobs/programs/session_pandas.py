# SPDX-License-Identifier: Apache-2.0
"""An analyst at a Python prompt: pandas tables, grouping, a small scikit-learn model."""
import common

args = common.arguments(rows=200000, seed=1, median=7.0)
folder = common.output(args, "home")
CELLS = ["import numpy as np, pandas as pd, time", """
r = np.random.default_rng(%d)
n = %d
pd.DataFrame({'shop': r.integers(0, 40, n), 'day': r.integers(0, 365, n), 'price': r.gamma(2, 9, n),
              'count': r.integers(1, 9, n), 'member': r.random(n) < .3}).to_csv('sales.csv', index=False)
""" % (args.seed, common.few(args.rows)), "t = pd.read_csv('sales.csv'); t['total'] = 0.0; print(t.head())", "print(t.describe())",
         "t['total'] = t['price'] * t['count']; print(t.groupby('shop')['total'].sum().sort_values().tail())",
         "print(t.groupby(['day', 'member'])['total'].agg(['mean', 'std', 'count']).head(9))",
         "p = t.pivot_table(index='shop', columns='day', values='total', aggfunc='mean'); print(p.shape)",
         "print(t.sort_values(['total', 'day'], ascending=False).head(12))",
         "print(t[['price', 'count', 'total', 'day']].corr())", """
from sklearn.linear_model import LogisticRegression
m = LogisticRegression(max_iter=200).fit(t[['price', 'count', 'day']].to_numpy(), t['member'].to_numpy())
print(m.coef_)
""", """
from sklearn.cluster import KMeans
k = KMeans(8, n_init=2, random_state=1).fit(t[['price', 'total']].to_numpy()[:20000])
print(k.cluster_centers_)
""", "w = t.groupby('day')['total'].sum().rolling(7).mean(); print(w.tail())",
         "u = t.merge(t.groupby('shop')['total'].mean().rename('usual').reset_index(), on='shop'); print(len(u))",
         "print(t.sample(5, random_state=2))", "print(np.histogram(t['price'], bins=20))",
         "t.to_csv('out.csv', index=False)"]
common.python_session(args, CELLS, folder, args.seed, args.median)
