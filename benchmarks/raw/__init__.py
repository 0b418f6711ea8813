"""From raw text to CoNLL-U: seqtag's pipeline and UDPipe, spaCy's and NLTK's tokenizers."""
