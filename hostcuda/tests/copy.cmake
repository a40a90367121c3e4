# Copies FOLDER to COPY, which is emptied first, so that no file of an earlier run can help.
file(REMOVE_RECURSE ${COPY})
file(COPY ${FOLDER}/ DESTINATION ${COPY} PATTERN __pycache__ EXCLUDE PATTERN build EXCLUDE)
