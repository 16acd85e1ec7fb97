"""Effects of covariates on topic proportions: regression with intervals."""
