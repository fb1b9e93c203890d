"""What programs publish while they run: curves, arrays, tables and progress, read with distrust."""
