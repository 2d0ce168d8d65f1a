"""The paper's question, for trainings until every point is fitted: regime, `B*`, GD line."""
