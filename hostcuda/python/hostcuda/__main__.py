"""python -m hostcuda"""
from hostcuda import main

main()
