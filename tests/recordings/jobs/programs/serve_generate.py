# SPDX-License-Identifier: Apache-2.0
"""Text generation service: a GPT-2 style model (random weights) continues every prompt."""
import common

args = common.arguments(layers=8, embed=512, tokens=48)
import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.set_num_threads(common.CORES)
torch.manual_seed(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
config = GPT2Config(vocab_size=256, n_positions=512, n_embd=args.embed, n_layer=args.layers,
                    n_head=args.embed // 64, bos_token_id=1, eos_token_id=2)
model = GPT2LMHeadModel(config).eval().to(device)


def answer(body):
    ids = torch.tensor([list(body[:200])], dtype=torch.long, device=device)
    with torch.inference_mode():
        made = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=True,
                              max_new_tokens=args.tokens, pad_token_id=0)
    return bytes(made[0].tolist())


answer(b"hello")
common.serve(args.port, answer, common.Clock(args.seconds))
