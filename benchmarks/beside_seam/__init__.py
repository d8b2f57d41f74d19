"""What is asked of Seam and of pyharness alike, each as an adapter that speaks DAP."""
