# Best subsets of a two-class table by leaps (regression on a +/-1 label is the same problem):
#   Rscript leaps.R FILE.csv K  prints 1/(RSS/TSS) - 1 for k = 1..K, one a line.
suppressMessages(library(leaps))
arguments <- commandArgs(trailingOnly = TRUE)
table <- read.csv(arguments[1], check.names = FALSE)
most <- as.integer(arguments[2])
y <- ifelse(table[[ncol(table)]] == table[[ncol(table)]][1], 1, -1)
x <- as.matrix(table[, -ncol(table)])
x <- x[, apply(x, 2, sd) > 0]
found <- summary(regsubsets(x, y, nvmax = most, really.big = TRUE, method = "exhaustive"))
total <- sum((y - mean(y))^2)
cat(sprintf("%.12g\n", 1 / (found$rss[1:most] / total) - 1), sep = "")
