"""From raw text to CoNLL-U: seqtag's pipeline beside UDPipe, spaCy's and NLTK's tokenizers."""
