"""Parts that several pages use: labels, tables, cells, states, plots and dialogs."""
