"""What a sanitizer's runtime has found in a program, from the program's memory."""
