"""What the folder of a wrong kernel is made of; these files run without pyharness."""
