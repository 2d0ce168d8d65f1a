"""A training function of a user, for the stores. Its text is part of identities: never edit it."""


def train(lr, batch, train_size, seed, epochs=None):
    value = lr / batch + seed + train_size
    return {"alignment": value} if epochs is None else {"test_error": value, "epochs_done": epochs}
