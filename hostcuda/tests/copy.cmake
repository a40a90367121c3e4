# Copies FOLDER to COPY from scratch, so that nothing from an earlier run can help.
file(REMOVE_RECURSE ${COPY})
file(COPY ${FOLDER}/ DESTINATION ${COPY} PATTERN __pycache__ EXCLUDE PATTERN build EXCLUDE)
