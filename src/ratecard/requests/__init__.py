"""Bodies and usages become request shapes, or a `QuoteError` with every problem. Only this package validates."""
