"""Operations that are not plain array algebra, compiled, each with a readable reference."""
