def report(folder):
    return ""
