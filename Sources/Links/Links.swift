// Links
