"""A line between two kinds of points, by PyTorch."""

import torch


class Model:
    def __init__(self, learning_rate, seed):
        torch.manual_seed(seed)
        self.line = torch.nn.Linear(2, 1)
        self.optimizer = torch.optim.SGD(self.line.parameters(), lr=learning_rate)

    def learn(self, points, kinds):
        loss = torch.nn.BCEWithLogitsLoss()
        wanted = torch.tensor(kinds, dtype=torch.float32)
        batches = torch.utils.data.TensorDataset(torch.tensor(points), wanted)
        for some, expected in torch.utils.data.DataLoader(batches, batch_size=8, shuffle=True):
            self.optimizer.zero_grad()
            loss(self.line(some)[:, 0], expected).backward()
            self.optimizer.step()

    def accuracy(self, points, kinds):
        with torch.no_grad():
            found = self.line(torch.tensor(points))[:, 0] > 0
        return (found == torch.tensor(kinds, dtype=torch.bool)).float().mean().item()
