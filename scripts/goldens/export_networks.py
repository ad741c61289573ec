# python3 export_networks.py FOLDER [--resnet18]
# Exports small networks from PyTorch (Debian's python3-torch) as ONNX, with seeded weights and inputs, into FOLDER: what
# users of PyTorch bring, at the operator sets that they bring. Writes NAME.onnx and NAME.inI.bin; run_exported.js adds the
# outputs of ONNX Runtime. --resnet18: only that network, with eight samples to calibrate on, resnet18.onnx and resnet18.npy: of
# an ordinary size, to see what int8 leaves of a file.
import sys
import warnings

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

warnings.filterwarnings("ignore")


class Function(nn.Module):
    """A network whose parts are keywords and whose forward pass is f(self, inputs...)."""

    def __init__(self, f, **parts):
        super().__init__()
        self.f = f
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self.f(self, *inputs)


def conv_block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


def unet(s, x):
    a = s.a(x)
    b = s.b(F.max_pool2d(a, 2))
    y = s.d(torch.cat([s.up(s.m(F.max_pool2d(b, 2))), b], 1))
    y = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
    return s.o(torch.cat([y, a], 1))


def attention_lstm(s, x):
    out, (h, _) = s.lstm(x)
    weights = torch.softmax(s.score(out), 1)
    return s.head((out * weights).sum(1)), h


def conv_gru(s, x):
    out, h = s.gru(s.conv(x).permute(2, 0, 1))
    return torch.softmax(s.head(out.max(0)[0]), -1), h


def tcn(s, x):
    for i, conv in enumerate(s.convs):
        y = F.relu(conv(F.pad(x, (2 * 2**i, 0))))
        x = y if i == 0 else x + y
    return F.log_softmax(s.head(x.mean(-1)), -1)


def masked_attention(s, ids, mask):
    x = s.embed(ids) + s.place
    n, t, d = x.shape
    q, k, v = (z.view(n, t, 2, d // 2).transpose(1, 2) for z in s.qkv(s.norm1(x)).chunk(3, -1))
    a = q @ k.transpose(-1, -2) / (d // 2) ** 0.5
    a = a.masked_fill(mask[:, None, None, :] == 0, float("-inf")).softmax(-1)
    x = x + s.out((a @ v).transpose(1, 2).reshape(n, t, d))
    return s.head((x + s.mlp(s.norm2(x))).mean(1))


def squeeze_excite(s, x):
    x = F.silu(s.conv(x))
    x = x * torch.sigmoid(s.up(F.relu(s.down(x.mean((2, 3), keepdim=True)))))
    x = s.prelu(s.norm(s.groups(x)))
    return F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), x.flatten(1).std(1)


def convnext(s, x):
    y = s.norm(s.depthwise(x).permute(0, 2, 3, 1))
    return x + s.p2(F.gelu(s.p1(y))).permute(0, 3, 1, 2)


def gated(s, x):
    return s.out(torch.tanh(s.a(x)) * torch.sigmoid(s.b(x))) + x[:, :, 4:]


def networks():
    """Name: network, inputs, operator set."""
    torch.manual_seed(1)
    r = torch.randn
    ids = torch.randint(0, 20, (2, 10))
    mask = torch.cat([torch.ones(2, 7), torch.zeros(2, 3)], 1).long()
    return {
        "unet": (Function(unet, a=conv_block(1, 4), b=conv_block(4, 8), m=conv_block(8, 8),
                          up=nn.ConvTranspose2d(8, 8, 2, 2), d=conv_block(16, 4), o=nn.Conv2d(8, 2, 1)),
                 (r(1, 1, 16, 16),), 13),
        "attention_lstm": (Function(attention_lstm, lstm=nn.LSTM(4, 6, batch_first=True, bidirectional=True),
                                    score=nn.Linear(12, 1), head=nn.Linear(12, 2)), (r(2, 11, 4),), 16),
        "two_layer_lstm": (Function(lambda s, x: s.l(x)[0], l=nn.LSTM(3, 5, num_layers=2)), (r(6, 2, 3),), 9),
        "conv_gru": (Function(conv_gru, conv=nn.Sequential(nn.Conv1d(1, 6, 7, 2, 3), nn.BatchNorm1d(6), nn.ELU(),
                                                           nn.MaxPool1d(2)),
                              gru=nn.GRU(6, 5, bidirectional=True), head=nn.Linear(10, 2)), (r(1, 1, 64),), 11),
        "rnn": (Function(lambda s, x: s.l(x)[0], l=nn.RNN(3, 4, bidirectional=True)), (r(5, 1, 3),), 14),
        "tcn": (Function(tcn, convs=nn.ModuleList([nn.Conv1d(2 if i == 0 else 8, 8, 3, dilation=2**i)
                                                   for i in range(3)]), head=nn.Linear(8, 4)), (r(1, 2, 64),), 17),
        "masked_attention": (Function(masked_attention, embed=nn.Embedding(20, 16), place=nn.Parameter(r(1, 10, 16)),
                                      qkv=nn.Linear(16, 48), norm1=nn.LayerNorm(16), norm2=nn.LayerNorm(16),
                                      out=nn.Linear(16, 16), head=nn.Linear(16, 3),
                                      mlp=nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))),
                             (ids, mask), 14),
        "encoder_layer": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu", norm_first=True),
                          (r(2, 7, 8),), 13),
        "decoder_layer": (nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), (r(1, 5, 8), r(1, 3, 8)), 16),
        "squeeze_excite": (Function(squeeze_excite, conv=nn.Conv2d(3, 8, 3, padding=1), down=nn.Conv2d(8, 2, 1),
                                    up=nn.Conv2d(2, 8, 1), norm=nn.GroupNorm(2, 8), prelu=nn.PReLU(8),
                                    groups=nn.Conv2d(8, 8, 3, groups=4, padding=1, padding_mode="reflect")),
                           (r(1, 3, 8, 8),), 9),
        "convnext": (Function(convnext, depthwise=nn.Conv2d(4, 4, 7, padding=3, groups=4), norm=nn.LayerNorm(4),
                              p1=nn.Linear(4, 16), p2=nn.Linear(16, 4)), (r(1, 4, 9, 9),), 17),
        "gated": (Function(gated, a=nn.Conv1d(4, 6, 3, dilation=2), b=nn.Conv1d(4, 6, 3, dilation=2),
                           out=nn.Conv1d(6, 4, 1)), (r(1, 4, 30),), 11),
        "super_resolution": (nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.PixelShuffle(2),
                                           nn.Conv2d(2, 1, 3, padding=1)), (r(1, 1, 6, 6),), 13),
        "grid_sample": (Function(lambda s, x, g: F.grid_sample(x, torch.tanh(g), align_corners=False)),
                        (r(1, 2, 6, 6), r(1, 4, 4, 2)), 16),
        "eegnet": (nn.Sequential(nn.ZeroPad2d((15, 16, 0, 0)), nn.Conv2d(1, 4, (1, 32), bias=False), nn.BatchNorm2d(4),
                                 nn.Conv2d(4, 8, (6, 1), groups=4, bias=False), nn.BatchNorm2d(8), nn.ELU(),
                                 nn.AvgPool2d((1, 4)), nn.Flatten(), nn.Linear(128, 2)), (r(1, 1, 6, 64),), 12),
    }


class ResidualBlock(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(),
                                  nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o))
        self.short = nn.Identity() if stride == 1 else nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False),
                                                                     nn.BatchNorm2d(o))

    def forward(self, x):
        return torch.relu(self.body(x) + self.short(x))


def resnet18(folder):
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for i, o in ((64, 64), (64, 128), (128, 256), (256, 512)):
        layers += [ResidualBlock(i, o, 1 if i == o else 2), ResidualBlock(o, o, 1)]
    network = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
    x = torch.randn(4, 3, 64, 64)
    network(x)
    network.eval()
    torch.onnx.export(network, x[:1], f"{folder}/resnet18.onnx", opset_version=13)
    np.save(f"{folder}/resnet18.npy", torch.randn(8, 1, 3, 64, 64).numpy())


def main(folder):
    for name, (network, inputs, opset) in networks().items():
        network.train()  # so that batch normalisations have seen something
        with torch.no_grad():
            network(*inputs)
        network.eval()
        for i, tensor in enumerate(inputs):
            tensor.numpy().tofile(f"{folder}/{name}.in{i}.bin")
        torch.onnx.export(network, inputs, f"{folder}/{name}.onnx", opset_version=opset,
                          input_names=[f"in{i}" for i in range(len(inputs))])


resnet18(sys.argv[1]) if "--resnet18" in sys.argv else main(sys.argv[1])
